/**
 * A command at work: one transaction, the sessions it has locked, and the events it appends.
 *
 * Every command is: lock the session's head row → read → decide → write. The head row is read once,
 * changed in memory and written once at the end together with the appended events, so a command
 * costs few statements and a session's `seq` has no gaps.
 */

import type { Clock } from "#base/clock.ts";
import type { Ids } from "#base/ids.ts";
import type { Store, Tx } from "#base/store/index.ts";
import type { ModelCallItem } from "#protocol/events.ts";
import type { Author } from "#protocol/sessions.ts";
import type { Announcer } from "./announce.ts";
import type { BindingLister } from "./binding-lister.ts";
import type { CallOnRecord, EndedCall, JudgedCall } from "./call-facts.ts";
import { type EventDraft, eventRow } from "./event-draft.ts";
import type {
  CallbackAnswer,
  ChildrenFate,
  KeptFields,
  RequestedFields,
  ResultAnswer,
  SettingChange,
  WakeAnswer,
} from "./event-facts.ts";
import type { RenderNotice } from "./notices/render-notice.ts";
import type { RepoAddressLister } from "./repo-addresses.ts";
import type { Principal } from "./requests/principal.ts";
import type { LossEvidence, LossReason } from "./runs/leases/loss-evidence.ts";
import type { EventRow, GateRow, PromptRow, RunRow, SessionRow } from "./schema.ts";
import { insertEvents } from "./sessions/log/event-queries.ts";
import { eventView } from "./sessions/log/event-view.ts";
import { findParentId, insertSession, lockSession, saveSession } from "./sessions/queries.ts";
import type { ReadContext, SessionDescriber } from "./sessions/read-context.ts";
import type { SessionDefaults } from "./sessions/session-defaults.ts";

export type {
  ChildrenFate,
  KeptFields,
  RequestedFields,
  SettingChange,
  WakeAnswer,
} from "./event-facts.ts";

/** Both databases bound the parameters of one statement. */
const ROWS_PER_INSERT = 100;

type InsertAll = (tx: Tx, rows: readonly unknown[]) => Promise<unknown>;

/** Events of the kernel, emitted inside the transaction that causes them. */
export type KernelEvent =
  | { type: "prompt_settled"; session: SessionWriter; prompt: PromptRow; run: RunRow | null }
  /** A run is about to end as completed; a feature that knows its turn's answer sets the result. */
  | { type: "run_settling"; session: SessionWriter; run: RunRow; answer: ResultAnswer }
  /**
   * A session is being made and nothing is announced yet: a listener may set the fields nobody
   * asked for.
   */
  | { type: "session_making"; session: SessionWriter; requested: RequestedFields }
  /** A listener that refuses the new session throws. */
  | { type: "session_created"; session: SessionWriter; requested: RequestedFields }
  /** The session's settings are being changed on request; a listener that refuses one throws. */
  | {
      type: "session_changed";
      session: SessionWriter;
      fields: readonly string[];
      /** New values of those fields that features keep. */
      kept?: KeptFields;
      /** Previous row, where a listener may need it. */
      before?: Readonly<SessionRow>;
    }
  | { type: "session_lifecycle"; session: SessionWriter; from: string }
  /**
   * The session is about to be archived: features that tie sessions to it end or release them
   * first.
   */
  | {
      type: "session_archiving";
      session: SessionWriter;
      force: boolean;
      children: ChildrenFate | undefined;
    }
  /** A run of `async_callback` has ended; a feature that notifies the parent sets `isTaken`. */
  | {
      type: "callback_due";
      session: SessionWriter;
      prompt: PromptRow;
      run: RunRow | null;
      answer: CallbackAnswer;
    }
  /**
   * A prompt addresses a session that does not exist: a feature that keeps such sessions may create
   * it.
   */
  | { type: "session_missing"; sessionId: string; principal: Principal }
  /**
   * The session is to be active again, and nothing has been changed yet. A listener may refuse. A
   * feature whose sessions never end for good brings one back here when a person speaks to it.
   */
  | { type: "session_waking"; session: SessionWriter; by: Author["kind"]; answer: WakeAnswer }
  | { type: "prompt_admitted"; session: SessionWriter; prompt: PromptRow }
  /** The prompt is in the history now, and its agent works on it. */
  | { type: "prompt_started"; session: SessionWriter; prompt: PromptRow }
  /** An attempt was taken from its runner; the run is tried again or ended. */
  | { type: "run_lost"; session: SessionWriter; run: RunRow; reason: LossReason }
  /** The turn waits for the machine with the session's files, which has been gone for long. */
  | { type: "workspace_offline"; session: SessionWriter; run: RunRow }
  | { type: "model_called"; session: SessionWriter; run: RunRow; call: ModelCallItem }
  /** A tool call was judged; allowed calls are reported again when they end. */
  | { type: "call_judged"; session: SessionWriter; run: RunRow; call: JudgedCall }
  | { type: "call_ended"; session: SessionWriter; run: RunRow; call: EndedCall }
  | { type: "gate_opened"; session: SessionWriter; gate: GateRow }
  | { type: "gate_closed"; session: SessionWriter; gate: GateRow }
  /** Somebody who does not own the session may read it until an instant. */
  | { type: "session_opened"; session: SessionWriter; by: string; reasonChars: number }
  /**
   * The content of an entry was removed from the log; `words` holds it, for features that keep
   * copies. For a prompt that never became an entry, `entryId` is the prompt's id.
   */
  | {
      type: "entry_redacted";
      session: SessionWriter;
      by: string;
      entryId: string;
      kind: string;
      words: readonly string[];
    }
  /** Rows of a feature were deleted that others may name by their id. */
  | { type: "records_deleted"; kind: string; ids: readonly string[] }
  | ({ type: "setting_changed" } & SettingChange);

/** Reports a change inside the transaction that makes it. */
export type ReportChange = (tx: Tx, change: SettingChange) => Promise<void>;

/**
 * Runs inside the causing transaction and may only write through `work`: no waiting for anything
 * else. Rows that it inserts need a cause key, so that a repeated event makes nothing twice.
 */
export type Listener = (work: Work, event: KernelEvent) => Promise<void>;

/** Judges a call by the rules as they are now. Returns the reason when it is denied. */
export type FindDenial = (
  work: Work,
  session: SessionWriter,
  run: RunRow,
  call: CallOnRecord,
) => Promise<string | undefined>;

export interface Engine {
  store: Store;
  ids: Ids;
  /** Clock for what is shown; commands take the time of their transaction. */
  clock: Clock;
  announcer: Announcer;
  listeners: readonly Listener[];
  /** Defaults for new sessions. */
  defaults: SessionDefaults;
  /** Resolves a tool name or alias. */
  toolName(name: string): string | undefined;
  /**
   * Checks a call again. A call may be performed long after it was judged: after a person's
   * approval, behind other calls, or by the next attempt. Code that lets it proceed asks here
   * first.
   */
  findDenial: FindDenial;
  /** Renders a notice for the model of the session that receives it. */
  renderNotice: RenderNotice;
  /** True when a feature delivers outbox rows of this kind. */
  delivers(kind: string): boolean;
  /** Tables of features whose rows are removed together with their session. */
  sessionTables: readonly string[];
  /** Functions of features that add their fields to shown sessions. */
  describers: readonly SessionDescriber[];
  /** Column of a feature's table by which sessions are listed, by the name of the filter. */
  sessionFilters: ReadonlyMap<string, { table: string; column: string }>;
  /** Undefined when no feature keeps bindings. */
  listBindings?: BindingLister | undefined;
  /** Undefined when no feature knows repositories by name. */
  listRepoAddresses?: RepoAddressLister | undefined;
  /** Id of this process among the servers that share the database. */
  serverId: string;
  evidence: LossEvidence;
}

/** A locked session: its head row, to be changed freely, and the events to append to its log. */
export class SessionWriter {
  readonly row: SessionRow;
  readonly isNew: boolean;
  readonly appended: EventRow[] = [];
  readonly #now: number;
  readonly #before: SessionRow;

  constructor(row: SessionRow, isNew: boolean, now: number) {
    this.row = row;
    this.isNew = isNew;
    this.#now = now;
    this.#before = { ...row };
  }

  /** False for a command that did nothing, which then writes nothing. */
  get hasChanged(): boolean {
    const names = Object.keys(this.row) as (keyof SessionRow)[];
    return this.isNew || names.some((name) => this.row[name] !== this.#before[name]);
  }

  /** Appends to the log; returns the event's seq. */
  record(draft: EventDraft): number {
    this.row.last_seq += 1;
    if (draft.kind === "text" || draft.kind === "prompt") this.row.messages_total += 1;
    this.appended.push(eventRow(this.row, draft, this.#now));
    return this.row.last_seq;
  }
}

export class Work {
  readonly tx: Tx;
  readonly now: number;
  readonly ids: Ids;
  readonly announcer: Announcer;
  readonly serverId: string;
  readonly evidence: LossEvidence;
  readonly defaults: SessionDefaults;
  readonly toolName: Engine["toolName"];
  readonly #findDenial: FindDenial;
  readonly delivers: Engine["delivers"];
  readonly renderNotice: RenderNotice;
  readonly sessionTables: readonly string[];
  readonly #describers: readonly SessionDescriber[];
  /** Unclaimed runs that this command has made: at its end runners are notified of them. */
  readonly newRuns: RunRow[] = [];
  readonly #listeners: readonly Listener[];
  readonly #writers = new Map<string, SessionWriter>();
  readonly #later = new Map<InsertAll, unknown[]>();
  readonly #last = new Map<string, (() => Promise<void>)[]>();

  constructor(tx: Tx, engine: Engine) {
    this.tx = tx;
    this.now = tx.now;
    this.ids = engine.ids;
    this.announcer = engine.announcer;
    this.serverId = engine.serverId;
    this.evidence = engine.evidence;
    this.defaults = engine.defaults;
    this.toolName = engine.toolName;
    this.#findDenial = engine.findDenial;
    this.delivers = engine.delivers;
    this.renderNotice = engine.renderNotice;
    this.sessionTables = engine.sessionTables;
    this.#describers = engine.describers;
    this.#listeners = engine.listeners;
  }

  /** Reads of this command, for views of sessions in its answer. */
  get context(): ReadContext {
    return { reader: this.tx, now: this.now, describers: this.#describers };
  }

  /**
   * Locks a session until the command ends. A command that locks more than one must keep this
   * order, or two commands wait for each other: the org, then parents, then their children by id.
   */
  async session(id: string): Promise<SessionWriter | undefined> {
    const known = this.#writers.get(id);
    if (known) return known;
    const row = await lockSession(this.tx, id);
    if (!row) return undefined;
    const writer = new SessionWriter(row, false, this.now);
    this.#writers.set(id, writer);
    return writer;
  }

  /** Session that this command has locked or made already. */
  known(id: string): SessionWriter | undefined {
    return this.#writers.get(id);
  }

  /**
   * Locks a session and, before it, its parent: for every command whose consequences may reach the
   * parent. A session may lose its parent and never gets another, so the parent read before the
   * lock is the right one, or there is none any more.
   */
  async sessionWithParent(id: string): Promise<SessionWriter | undefined> {
    const known = this.#writers.get(id);
    if (known) return known;
    if (this.tx.dialect === "sqlite") return this.#familyAlone(id);
    const parentId = await findParentId(this.tx, id);
    if (parentId !== null) await this.session(parentId);
    const session = await this.session(id);
    const now = session?.row.parent_session_id ?? null;
    if (now !== null && now !== parentId) throw new Error(`session ${id} got another parent`);
    return session;
  }

  /**
   * Locks unrelated sessions, each with its parent, for a command that begins in one and may reach
   * another: parents first, then children, each by id.
   */
  async sessionsWithParents(ids: readonly string[]): Promise<void> {
    const tops = new Set<string>();
    const children = new Set<string>();
    for (const id of ids) {
      const parentId = await findParentId(this.tx, id);
      tops.add(parentId ?? id);
      if (parentId !== null) children.add(id);
    }
    for (const id of [...tops].sort()) await this.session(id);
    for (const id of [...children].sort()) await this.session(id);
  }

  /** SQLite has one writer, which holds every lock, so the order of reading rows does not matter. */
  async #familyAlone(id: string): Promise<SessionWriter | undefined> {
    const session = await this.session(id);
    const parentId = session?.row.parent_session_id ?? null;
    if (parentId !== null) await this.session(parentId);
    return session;
  }

  create(row: SessionRow): SessionWriter {
    const writer = new SessionWriter(row, true, this.now);
    this.#writers.set(row.id, writer);
    return writer;
  }

  /** Reason why a call that was judged before must not be performed now, if there is one. */
  async findDenial(
    session: SessionWriter,
    run: RunRow,
    call: CallOnRecord,
  ): Promise<string | undefined> {
    const reason = await this.#findDenial(this, session, run, call);
    if (reason !== undefined) {
      const { callId, tool } = call;
      const judged = { callId, tool, verdict: "deny" } as const;
      await this.emit({ type: "call_judged", session, run, call: judged });
    }
    return reason;
  }

  async emit(event: KernelEvent): Promise<void> {
    for (const listener of this.#listeners) await listener(this, event);
  }

  reportChange(change: SettingChange): Promise<void> {
    return this.emit({ type: "setting_changed", ...change });
  }

  /**
   * Puts an action off until the command is over but for its writing: for actions that lock a row
   * which comes after all sessions. Actions of the same key run in the order they came, keys in
   * their own order.
   */
  atEnd(key: string, act: () => Promise<void>): void {
    this.#last.set(key, [...(this.#last.get(key) ?? []), act]);
  }

  /** Runs the actions now that were put off under keys with this prefix. */
  async doNow(prefix: string): Promise<void> {
    for (;;) {
      const [key] = [...this.#last.keys()].filter((one) => one.startsWith(prefix)).sort();
      if (key === undefined) return;
      const acts = this.#last.get(key) ?? [];
      this.#last.delete(key);
      for (const act of acts) await act();
    }
  }

  /**
   * Inserts rows that nobody reads in this command; all of one kind are inserted together at its
   * end.
   */
  insertLater<R>(insert: (tx: Tx, rows: readonly R[]) => Promise<unknown>, row: R): void {
    const rows = this.#later.get(insert as InsertAll);
    if (rows) rows.push(row);
    else this.#later.set(insert as InsertAll, [row]);
  }

  async flush(): Promise<void> {
    await this.doNow("");
    for (const writer of this.#writers.values()) await this.#flushOne(writer);
    for (const [insert, rows] of this.#later)
      for (let from = 0; from < rows.length; from += ROWS_PER_INSERT)
        await insert(this.tx, rows.slice(from, from + ROWS_PER_INSERT));
    if (this.newRuns.length > 0) this.tx.afterCommit(() => this.announcer.runsReady());
  }

  async #flushOne(writer: SessionWriter): Promise<void> {
    const { row, appended, isNew } = writer;
    if (!writer.hasChanged) return;
    row.updated_at = this.now;
    if (isNew) await insertSession(this.tx, row);
    else await saveSession(this.tx, row);
    if (appended.length > 0) await insertEvents(this.tx, appended);
    const { announcer } = this;
    this.tx.afterCommit(() => {
      if (appended.length > 0)
        announcer.appended(row.id, () => appended.map(eventView), row.last_seq);
      if (row.owner_id !== null) announcer.hint(`user:${row.owner_id}`, "session", row.id);
    });
  }
}

/** For code that changes settings without a command of its own. */
export function createChangeReporter(engine: () => Engine): ReportChange {
  return async (tx, change) => {
    const work = new Work(tx, engine());
    await work.reportChange(change);
    await work.flush();
  };
}

/** Runs one command; a throw undoes it. */
export function command<T>(engine: Engine, act: (work: Work) => Promise<T>): Promise<T> {
  return engine.store.transaction(async (tx) => {
    const work = new Work(tx, engine);
    const result = await act(work);
    await work.flush();
    return result;
  });
}
