/**
 * Contract of a feature with the kernel and the surfaces: tables, listeners, timers, routes, and a
 * say in what tools may do. The kernel hosts features and names none.
 */
import type * as z from "zod";
import type { Migration, Reader } from "#base/store/index.ts";
import type { ApiRoute, PathParams } from "#protocol/api-route.ts";
import type { GitIdentity, RepositoryAccess } from "#protocol/workspaces.ts";
import type { BindingLister } from "./binding-lister.ts";
import type { NoticeRenderers } from "./notices/render-notice.ts";
import type { RepoAddressLister } from "./repo-addresses.ts";
import type { IdempotentRequest } from "./requests/idempotency.ts";
import type { Action, Principal } from "./requests/principal.ts";
import type { RetentionRule } from "./retention/retention.ts";
import type { PromptRow, RunnerRow, SessionRow, TimerRow } from "./schema.ts";
import type { SessionDescriber } from "./sessions/read-context.ts";
import type { Judge, Tool } from "./tools/index.ts";
import type { Engine, Listener, Work } from "./work.ts";

/** Called in its own transaction when a timer is due; the timer is gone when it commits. */
export type TimerHandler = (work: Work, timer: TimerRow) => Promise<void>;

/** Delivers one outbox row outside the database. A throw means: try again later. */
export type Deliverer = (payload: unknown, causeKey: string) => Promise<void>;

/**
 * Work by the clock. It runs on every server, so several may run it at once. After a throw the next
 * round tries again.
 */
export interface Sweep {
  name: string;
  everyMs: number;
  run(engine: Engine, now: number): Promise<void>;
}

export interface RouteRequest<R extends ApiRoute = ApiRoute> {
  engine: Engine;
  principal: Principal;
  /** Path parameters. Each has the form of an id, except `name`, which people choose. */
  params: PathParams<R["path"]>;
  query: z.output<NonNullable<R["query"]>>;
  body: z.output<NonNullable<R["body"]>>;
  idempotency: IdempotentRequest | undefined;
}

/** Answers with a file instead of JSON. */
export interface RawAnswer {
  raw: { body: Uint8Array | string; headers: Readonly<Record<string, string>> };
}

/** A route with its handler. The surface checks caller and input, and documents the route. */
export interface Route extends ApiRoute {
  /** Chooses the status from the answer: `status`, or one of `otherStatuses`. */
  statusOf?(answer: never): number;
  handle(
    request: Omit<RouteRequest, "query" | "body"> & { query: never; body: never },
  ): Promise<unknown>;
}

/** Binds a declared route to its handler; the route's schemas give the types of the request and the answer. */
export function serve<R extends ApiRoute>(
  route: R,
  handle: (request: RouteRequest<R>) => Promise<z.input<R["response"]> | RawAnswer>,
  statusOf?: (answer: z.input<R["response"]>) => number,
): Route {
  return { ...route, handle, ...(statusOf && { statusOf }) } as unknown as Route;
}

/** Material that an agent reads besides its prompt. */
export interface Brief {
  /** Instructions in this order, before any other part of the context. */
  instructions: { name: string; content: string }[];
  /** Files for the workspace, by their path there. */
  files: { path: string; content: string }[];
  /** Command to run once in a new workspace, before the agent begins. */
  setup: string | null;
  /** Author of the agent's commits. */
  identity?: GitIdentity | null;
  /** Notes that may matter to this prompt, one line each: given with it and kept in the transcript. */
  recall?: string[];
}

/** Returns a feature's part of the brief. */
export type Briefer = (
  reader: Reader,
  session: SessionRow,
  /** Prompt of the current turn. */
  prompt: PromptRow,
) => Promise<Brief | undefined>;

/** Returns what an agent must still know after its history was summed up; called only then. */
export type Registrar = (
  reader: Reader,
  session: SessionRow,
  thread: string,
) => Promise<string | null>;

/**
 * Returns access to a session's repository, or undefined when the feature does not know it. Called
 * only for the runner that holds a run of the session; answers from the server's own rows.
 */
export type RepositoryOpener = (
  engine: Engine,
  session: SessionRow,
  /** Runner that asks; its scope tells whose machine it is. */
  runner: Pick<RunnerRow, "scope">,
) => Promise<RepositoryAccess | undefined>;

/** A person, by the ids of the server's rows. */
export interface Person {
  orgId: string;
  userId: string;
}

/** Current state of something that can be found by words. */
export interface SearchableRow {
  id: string;
  orgId: string;
  /** Readers that its own routes show it to: these people, or everybody of the org. */
  readers: readonly string[] | "org";
  title: string;
  /** True when the title is another row's, or part of the text: it is shown, and finds nothing. */
  isTitleBorrowed?: boolean;
  /** Text besides the title. */
  text: string;
  /** Time of the last change. */
  at: number;
  /** Address of the page that shows it. */
  url: string;
}

/** A kind of searchable thing. The kernel only passes it on. */
export interface Searchable {
  kind: string;
  /** Action that a credential must allow to be shown the row. */
  action: Action;
  /** Table that keeps it, by `id`, and the columns that decide its words or its readers. */
  table: string;
  columns: readonly string[];
  /** Raised when those columns, or what is derived from them, change: all rows are read anew. */
  version: number;
  /** Kind of the same rows in earlier versions, whose documents and triggers are replaced. */
  formerly?: { kind: string; version: number };
  /** Returns those of the ids that exist and may be found. */
  read(reader: Reader, ids: readonly string[]): Promise<SearchableRow[]>;
}

export interface Feature {
  name: string;
  migrations?: readonly Migration[];
  listeners?: readonly Listener[];
  timers?: Readonly<Record<string, TimerHandler>>;
  deliverers?: Readonly<Record<string, Deliverer>>;
  sweeps?: readonly Sweep[];
  routes?: readonly Route[];
  tools?: readonly Tool[];
  /** Takes part in every tool call that asks to be judged. */
  judge?: Judge;
  brief?: Briefer;
  /**
   * True when `brief` may have something for the session, by its row alone; runners ask for no
   * brief where every feature says no. Absent means that `brief` only adds to briefs of others.
   */
  hasBrief?(session: SessionRow): boolean;
  /** Adds the feature's fields to shown sessions. */
  describeSessions?: SessionDescriber;
  /**
   * Filters of the list of sessions that the feature answers: `table.column` by the name of the
   * filter. The table has the session's id in `session_id`; the column needs an index.
   */
  sessionFilters?: Readonly<Record<string, string>>;
  /** Renderers for the kinds of notices that the feature sends. */
  renderNotices?: Partial<NoticeRenderers>;
  register?: Registrar;
  openRepository?: RepositoryOpener;
  listBindings?: BindingLister;
  listRepoAddresses?: RepoAddressLister;
  searchable?: readonly Searchable[];
  /**
   * Tables whose rows belong to a session by `session_id`, or `table.column` by another column, and
   * are removed with it. `table.column=null`: rows that only name the session stay, and forget it.
   * The column needs an index.
   */
  sessionTables?: readonly string[];
  /** Retention of rows that no session takes along. */
  retention?: readonly RetentionRule[];
  /**
   * Removes a batch of the rows that belong to a removed person alone; true when none is left. The
   * person's sessions are gone by then. Rows that others go on using may keep the person's id, and
   * nothing they typed.
   */
  purgePerson?(work: Work, person: Person): Promise<boolean>;
}
