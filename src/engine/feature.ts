/**
 * What a feature is to the kernel and the surfaces: tables, listeners, timers, routes, a say in what
 * tools may do. The kernel hosts features and names none.
 */
import type * as z from "zod";
import type { Log } from "#base/log.ts";
import type { Migration, Reader } from "#base/store/index.ts";
import type { GitIdentity, RepositoryAccess } from "#protocol/workspaces.ts";
import type { BindingLister } from "./binding-lister.ts";
import type { IdempotentRequest } from "./idempotency.ts";
import type { NoticeRenderers } from "./notices/render-notice.ts";
import type { Action, Principal } from "./principal.ts";
import type { RepoAddressLister } from "./repo-addresses.ts";
import type { RetentionRule } from "./retention.ts";
import type { PromptRow, RunnerRow, SessionRow, TimerRow } from "./schema.ts";
import type { Judge, Tool } from "./tools/index.ts";
import type { Engine, Listener, Work } from "./work.ts";

/** Called in its own transaction when a timer is due; the timer is gone when it commits. */
export type TimerHandler = (work: Work, timer: TimerRow) => Promise<void>;

/** Delivers one outbox row outside the database. A throw means: try again later. */
export type Deliverer = (payload: unknown, causeKey: string) => Promise<void>;

/** Runs on every server, so it must be safe to run on several at once. A throw means: at the next round. */
export interface Sweep {
  name: string;
  everyMs: number;
  run(engine: Engine, now: number): Promise<void>;
}

export interface RouteRequest<Q = unknown, B = unknown> {
  engine: Engine;
  principal: Principal;
  /** From the path; each has the form of an id, but for `name`, which is as somebody wrote it. */
  params: Readonly<Record<string, string>>;
  query: Q;
  body: B;
  idempotency: IdempotentRequest | undefined;
}

/** A file instead of JSON. */
export interface RawAnswer {
  raw: { body: Uint8Array | string; headers: Readonly<Record<string, string>> };
}

/** One way in over HTTP, said once: the surface checks the caller and the input and documents it. */
export interface Route {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** With `{name}` for parameters, under `/api/`. */
  path: string;
  /** Other paths with the same parameters that are served too, and not documented. */
  aliases?: readonly string[];
  summary: string;
  tag: string;
  query?: z.ZodType;
  body?: z.ZodType;
  response: z.ZodType;
  status?: number;
  /** It uses the request's `idempotency`. */
  takesIdempotencyKey?: true;
  /** Further statuses of success, which `statusOf` gives. */
  otherStatuses?: readonly number[];
  /** Reads the status from the answer: `status`, or one of `otherStatuses`. */
  statusOf?(answer: never): number;
  /** Media type of a raw answer. */
  mediaType?: string;
  handle(request: RouteRequest<never, never>): Promise<unknown>;
}

/** Keeps the types of query and body between the schemas and the handler. */
export function defineRoute<Q extends z.ZodType, B extends z.ZodType>(
  route: Omit<Route, "query" | "body" | "handle"> & {
    query?: Q;
    body?: B;
    handle(request: RouteRequest<z.infer<Q>, z.infer<B>>): Promise<unknown>;
  },
): Route {
  return route as unknown as Route;
}

/** What an agent is given to read, besides what it is asked. */
export interface Brief {
  /** In this order, before anything else it is told. */
  instructions: { name: string; content: string }[];
  /** For its workspace, by their path there. */
  files: { path: string; content: string }[];
  /** To be run once in a new workspace, before the agent begins. */
  setup: string | null;
  /** As whom it commits. */
  identity?: GitIdentity | null;
  /** What it may need to know for this prompt, a line each: given with it, and kept in the transcript. */
  recall?: string[];
}

/** For a session that has a persona or a repository. */
export type Briefer = (
  reader: Reader,
  session: SessionRow,
  /** The prompt that is being worked on. */
  prompt: PromptRow,
) => Promise<Brief | undefined>;

/** What an agent must still know when its history was summed up; it is asked for only then. */
export type Registrar = (
  reader: Reader,
  session: SessionRow,
  thread: string,
) => Promise<string | null>;

/**
 * What opens a session's repository; undefined when the feature does not know it. It is asked only
 * for the runner that holds a run of the session, and must answer from the server's own rows.
 */
export type RepositoryOpener = (
  engine: Engine,
  session: SessionRow,
  /** Whose runs it may claim says whose machine it is. */
  runner: Pick<RunnerRow, "scope">,
) => Promise<RepositoryAccess | undefined>;

/** Somebody by the ids of the server's rows. */
export interface Person {
  orgId: string;
  userId: string;
}

/** Something that can be found by words, as it is now. */
export interface SearchableRow {
  id: string;
  orgId: string;
  /** Whom its own routes show it to: these people, or everybody of the org. */
  readers: readonly string[] | "org";
  title: string;
  /** The title is another's, or a part of the text: it is shown, and finds nothing. */
  isTitleBorrowed?: boolean;
  /** What it says besides its title. */
  text: string;
  /** When it was written or last changed. */
  at: number;
  /** The page that shows it. */
  url: string;
}

/** A kind of thing that can be found by words. The kernel does nothing with it but carry it. */
export interface Searchable {
  kind: string;
  /** What a credential must be allowed to be shown it. */
  action: Action;
  /** Where it is kept, by `id`, and the columns that say what it is found by, or by whom. */
  table: string;
  columns: readonly string[];
  /** Raised when those columns, or what is made of them, are others: all of it is read anew. */
  version: number;
  /** Of these, what exists and is to be found. */
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
  /** Has a say in every tool call that asks to be judged. */
  judge?: Judge;
  brief?: Briefer;
  /** The words for the model, for the kinds of notices that it sends. */
  renderNotices?: Partial<NoticeRenderers>;
  register?: Registrar;
  openRepository?: RepositoryOpener;
  listBindings?: BindingLister;
  listRepoAddresses?: RepoAddressLister;
  searchable?: readonly Searchable[];
  /**
   * Tables whose rows hang on a session by `session_id`, or `table.column` by another, and go with it.
   * `table.column=null`: rows that only name the session stay, and forget it. The column needs an index.
   */
  sessionTables?: readonly string[];
  /** How long rows of its tables are kept that no session takes along. */
  retention?: readonly RetentionRule[];
  /**
   * Removes what is a removed person's alone, at most a batch of it; true when nothing is left. Their
   * sessions are gone by then. What others go on using may keep their id, and nothing they typed.
   */
  purgePerson?(work: Work, person: Person): Promise<boolean>;
  start?(engine: Engine, log: Log): void;
}
