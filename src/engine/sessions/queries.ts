/** The only SQL on sessions and threads. */
import { sql } from "kysely";
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { Lifecycle } from "#protocol/sessions.ts";
import type { KernelTables, SessionRow, ThreadRow } from "../schema.ts";
import { SESSION_COLUMNS } from "./session-columns.ts";

const prepare = statements<KernelTables>();

// sessions

const insertSessionRow = inserter<SessionRow>("sessions", SESSION_COLUMNS);

export function insertSession(tx: Tx, row: SessionRow): Promise<number> {
  return tx.execute(insertSessionRow(tx.dialect, [row]));
}

const selectSession = prepare<{ id: string }, SessionRow>((db, p) =>
  db.selectFrom("sessions").selectAll().where("id", "=", p("id")),
);
const selectSessionLocked = prepare<{ id: string }, SessionRow>((db, p, dialect) => {
  const query = db.selectFrom("sessions").selectAll().where("id", "=", p("id"));
  return dialect === "postgres" ? query.forUpdate() : query;
});

export function findSession(reader: Reader, id: string): Promise<SessionRow | undefined> {
  return reader.first(selectSession, { id });
}

const selectParent = prepare<{ id: string }, Pick<SessionRow, "parent_session_id">>((db, p) =>
  db.selectFrom("sessions").select("parent_session_id").where("id", "=", p("id")),
);
/** Parent of a session; null when it has none, or does not exist. */
export async function findParentId(reader: Reader, id: string): Promise<string | null> {
  return (await reader.first(selectParent, { id }))?.parent_session_id ?? null;
}

/** Last seq of each session's log. */
export function listLastSeqs(
  reader: Reader,
  ids: readonly string[],
): Promise<Pick<SessionRow, "id" | "last_seq">[]> {
  const query = builder<KernelTables>(reader.dialect)
    .selectFrom("sessions")
    .select(["id", "last_seq"])
    .where("id", "in", ids);
  return reader.query(query.compile());
}

/** Locks a session. SQLite has one writer, so there the transaction itself is the lock. */
export function lockSession(tx: Tx, id: string): Promise<SessionRow | undefined> {
  return tx.first(selectSessionLocked, { id });
}

const updateSession = prepare<SessionRow, unknown>((db, p) =>
  db
    .updateTable("sessions")
    .set({
      title: p("title"),
      lifecycle: p("lifecycle"),
      parent_session_id: p("parent_session_id"),
      root_session_id: p("root_session_id"),
      depth: p("depth"),
      model: p("model"),
      queue_mode: p("queue_mode"),
      instructions: p("instructions"),
      budget_micros: p("budget_micros"),
      project_dir: p("project_dir"),
      executor_session_id: p("executor_session_id"),
      executor_profile: p("executor_profile"),
      executor_type: p("executor_type"),
      hostname: p("hostname"),
      incarnation: p("incarnation"),
      role: p("role"),
      labels: p("labels"),
      awaiting: p("awaiting"),
      awaiting_kind: p("awaiting_kind"),
      awaiting_until: p("awaiting_until"),
      idle_ms: p("idle_ms"),
      last_seq: p("last_seq"),
      next_position: p("next_position"),
      waiting: p("waiting"),
      prompts_total: p("prompts_total"),
      started: p("started"),
      messages_total: p("messages_total"),
      demands: p("demands"),
      run_state: p("run_state"),
      last_outcome: p("last_outcome"),
      last_error_code: p("last_error_code"),
      last_error_message: p("last_error_message"),
      cost_micros: p("cost_micros"),
      cost_unknown: p("cost_unknown"),
      updated_at: p("updated_at"),
      last_resumed_at: p("last_resumed_at"),
      archived_at: p("archived_at"),
    })
    .where("id", "=", p("id")),
);

export function saveSession(tx: Tx, row: SessionRow): Promise<number> {
  return tx.run(updateSession, row);
}

const selectOrgLocked = prepare<{ id: string }, { id: string }>((db, p, dialect) => {
  const query = db.selectFrom("orgs").select("id").where("id", "=", p("id"));
  return dialect === "postgres" ? query.forUpdate() : query;
});
/**
 * Keeps two concurrent counts from both finding room for the last session. Taken before any
 * session's lock.
 */
export async function lockOrg(tx: Tx, id: string): Promise<void> {
  await tx.first(selectOrgLocked, { id });
}

const selectActiveOwners = prepare<Record<never, never>, { owner_id: string }>((db) =>
  db
    .selectFrom("sessions")
    .select("owner_id")
    .distinct()
    .where("lifecycle", "=", "active")
    .where("owner_id", "is not", null)
    .$narrowType<{ owner_id: string }>(),
);
/** Owners of awake sessions. */
export async function listActiveOwners(reader: Reader): Promise<string[]> {
  return (await reader.all(selectActiveOwners, {})).map(({ owner_id }) => owner_id);
}

const selectChildren = prepare<{ parentId: string }, { id: string; lifecycle: Lifecycle }>(
  (db, p) =>
    db
      .selectFrom("sessions")
      .select(["id", "lifecycle"])
      .where("parent_session_id", "=", p("parentId"))
      .orderBy("id"),
);
export function listChildren(
  reader: Reader,
  parentId: string,
): Promise<{ id: string; lifecycle: Lifecycle }[]> {
  return reader.all(selectChildren, { parentId });
}

/** Sessions whose row in a feature's table has this value in the column. */
export interface KeptFilter {
  table: string;
  column: string;
  value: string;
}

export interface SessionFilter {
  orgId: string;
  /** Null for everybody's. */
  ownerId: string | null;
  lifecycle?: readonly Lifecycle[] | undefined;
  kind?: string | undefined;
  parent?: string | undefined;
  /** Limits the list by columns of features, each with its value. */
  kept?: readonly KeptFilter[];
  /** Limits the list to any of these addresses. */
  repos?: readonly string[] | undefined;
  q?: string | undefined;
  before?: { at: number; id: string } | undefined;
  limit: number;
}

/** Sessions that match the filter, newest first. */
export async function listSessions(reader: Reader, filter: SessionFilter): Promise<SessionRow[]> {
  if (filter.repos?.length === 0) return [];
  let query = builder<KernelTables>(reader.dialect)
    .selectFrom("sessions")
    .selectAll()
    .where("org_id", "=", filter.orgId);
  if (filter.ownerId !== null) query = query.where("owner_id", "=", filter.ownerId);
  if (filter.lifecycle) query = query.where("lifecycle", "in", filter.lifecycle);
  if (filter.kind !== undefined)
    query = query.where("kind", "=", filter.kind as SessionRow["kind"]);
  if (filter.parent !== undefined) query = query.where("parent_session_id", "=", filter.parent);
  for (const { table, column, value } of filter.kept ?? []) {
    const kept = sql`select session_id from ${sql.table(table)} where ${sql.ref(column)} = ${value}`;
    query = query.where(sql<boolean>`id in (${kept})`);
  }
  if (filter.repos) query = query.where("repo", "in", filter.repos);
  if (filter.q !== undefined) {
    const pattern = `%${filter.q.toLowerCase().replaceAll(/[\\%_]/g, (c) => `\\${c}`)}%`;
    query = query.where(sql<boolean>`lower(title) like ${pattern} escape '\\'`);
  }
  const { before } = filter;
  if (before) {
    query = query.where((eb) =>
      eb.or([
        eb("created_at", "<", before.at),
        eb.and([eb("created_at", "=", before.at), eb("id", "<", before.id)]),
      ]),
    );
  }
  return reader.query<SessionRow>(
    query.orderBy("created_at", "desc").orderBy("id", "desc").limit(filter.limit).compile(),
  );
}

/** Shortest idle time before a session may hibernate. */
const MIN_IDLE_MS = 60_000;

interface IdleSince {
  now: number;
  /** `now` less the shortest idle time; the index begins there. */
  latest: number;
  idleMs: number;
  limit: number;
}
const selectIdle = prepare<IdleSince, { id: string }>((db, p) =>
  db
    .selectFrom("sessions")
    .select("id")
    .where("lifecycle", "=", "active")
    .where("run_state", "is", null)
    .where("waiting", "=", 0)
    .where("updated_at", "<", p("latest"))
    .where(sql<boolean>`updated_at + coalesce(idle_ms, ${p("idleMs")}) < ${p("now")}`)
    .limit(p("limit")),
);
/** Sessions that have been idle for as long as they may be. */
export async function listIdle(
  reader: Reader,
  wanted: Omit<IdleSince, "latest">,
): Promise<string[]> {
  const latest = wanted.now - Math.min(MIN_IDLE_MS, wanted.idleMs);
  return (await reader.all(selectIdle, { ...wanted, latest })).map((row) => row.id);
}

const selectHeldAsleep = prepare<{ after: string; limit: number }, { id: string }>((db, p) =>
  db
    .selectFrom("sessions")
    .select("id")
    .where("lifecycle", "=", "hibernated")
    .where("waiting", ">", 0)
    .where("id", ">", p("after"))
    .orderBy("id")
    .limit(p("limit")),
);
/** Sleeping sessions with waiting prompts, which could not wake when these came. */
export async function listHeldAsleep(
  reader: Reader,
  after: string,
  limit: number,
): Promise<string[]> {
  return (await reader.all(selectHeldAsleep, { after, limit })).map((row) => row.id);
}

export interface SessionLifecycle {
  id: string;
  lifecycle: Lifecycle;
  kind: SessionRow["kind"];
  /** Runner that holds the files. */
  runner_id: string | null;
  /** Time when the session was moved elsewhere, without those files. */
  left_at: number | null;
}
/** Lifecycles of those sessions that exist. */
export async function listSessionLifecycles(
  reader: Reader,
  orgId: string,
  ids: readonly string[],
): Promise<SessionLifecycle[]> {
  if (ids.length === 0) return [];
  const query = builder<KernelTables>(reader.dialect)
    .selectFrom("sessions")
    .leftJoin("workspaces", "workspaces.session_id", "sessions.id")
    .select(["sessions.id", "sessions.lifecycle", "sessions.kind"])
    .select(["workspaces.runner_id", "workspaces.left_at"])
    .where("sessions.org_id", "=", orgId)
    .where("sessions.id", "in", ids);
  return reader.query<SessionLifecycle>(query.compile());
}

// threads

const insertThreadRow = inserter<ThreadRow>("threads", [
  "id",
  "org_id",
  "session_id",
  "name",
  "context_after_seq",
  "summary",
  "summary_through_seq",
  "summary_failures",
  "summary_retry_at",
  "created_at",
]);
export function insertThread(tx: Tx, row: ThreadRow): Promise<number> {
  return tx.execute(insertThreadRow(tx.dialect, [row]));
}
const selectThread = prepare<{ sessionId: string; name: string }, ThreadRow>((db, p) =>
  db
    .selectFrom("threads")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("name", "=", p("name")),
);
export function findThread(
  reader: Reader,
  sessionId: string,
  name: string,
): Promise<ThreadRow | undefined> {
  return reader.first(selectThread, { sessionId, name });
}
const updateThreadContext = prepare<{ id: string; seq: number }, unknown>((db, p) =>
  db
    .updateTable("threads")
    .set({
      context_after_seq: p("seq"),
      summary: null,
      summary_through_seq: p("seq"),
      summary_failures: 0,
      summary_retry_at: 0,
    })
    .where("id", "=", p("id")),
);
export function resetContext(tx: Tx, threadId: string, seq: number): Promise<number> {
  return tx.run(updateThreadContext, { id: threadId, seq });
}

const updateThreadSummary = prepare<
  { sessionId: string; name: string; summary: string; throughSeq: number },
  unknown
>((db, p) =>
  db
    .updateTable("threads")
    .set({
      summary: p("summary"),
      summary_through_seq: p("throughSeq"),
      summary_failures: 0,
      summary_retry_at: 0,
    })
    .where("session_id", "=", p("sessionId"))
    .where("name", "=", p("name"))
    .where("summary_through_seq", "<", p("throughSeq")),
);
const updateSummaryRetry = prepare<{ id: string; failures: number; retryAt: number }, unknown>(
  (db, p) =>
    db
      .updateTable("threads")
      .set({ summary_failures: p("failures"), summary_retry_at: p("retryAt") })
      .where("id", "=", p("id")),
);
export function saveSummaryRetry(
  tx: Tx,
  id: string,
  failures: number,
  retryAt: number,
): Promise<number> {
  return tx.run(updateSummaryRetry, { id, failures, retryAt });
}

export function keepSummary(
  tx: Tx,
  sessionId: string,
  name: string,
  summary: string,
  throughSeq: number,
): Promise<number> {
  return tx.run(updateThreadSummary, { sessionId, name, summary, throughSeq });
}
