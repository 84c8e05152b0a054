/** SQL on links and on the sessions that they connect. */
import { inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables, PromptRow, SessionRow } from "#engine/index.ts";
import type { DelegationTables, LinkRow } from "./schema.ts";

type EventRow = KernelTables["events"];

const prepare = statements<DelegationTables & KernelTables>();

const insertLinkRow = inserter<LinkRow>("session_links", [
  "session_id",
  "org_id",
  "parent_session_id",
  "parent_thread",
  "handoff",
  "is_silent",
  "quiet_run",
  "returned_micros",
  "reserved_micros",
  "created_at",
]);
export function insertLink(tx: Tx, row: LinkRow): Promise<number> {
  return tx.execute(insertLinkRow(tx.dialect, [row]));
}

const selectLink = prepare<{ childId: string }, LinkRow>((db, p) =>
  db.selectFrom("session_links").selectAll().where("session_id", "=", p("childId")),
);
export function findLink(reader: Reader, childId: string): Promise<LinkRow | undefined> {
  return reader.first(selectLink, { childId });
}

const selectLinksOf = prepare<{ parentId: string }, LinkRow>((db, p) =>
  db
    .selectFrom("session_links")
    .selectAll()
    .where("parent_session_id", "=", p("parentId"))
    .orderBy("created_at")
    .orderBy("session_id"),
);
export function listLinks(reader: Reader, parentId: string): Promise<LinkRow[]> {
  return reader.all(selectLinksOf, { parentId });
}

const selectNewestLinks = prepare<{ parentId: string; limit: number }, LinkRow>((db, p) =>
  db
    .selectFrom("session_links")
    .selectAll()
    .where("parent_session_id", "=", p("parentId"))
    .orderBy("created_at", "desc")
    .orderBy("session_id", "desc")
    .limit(p("limit")),
);
/** Lists the newest links, newest first. */
export function listNewestLinks(
  reader: Reader,
  parentId: string,
  limit: number,
): Promise<LinkRow[]> {
  return reader.all(selectNewestLinks, { parentId, limit });
}

const updateLink = prepare<Omit<LinkRow, "org_id" | "parent_session_id" | "created_at">, unknown>(
  (db, p) =>
    db
      .updateTable("session_links")
      .set({
        parent_thread: p("parent_thread"),
        handoff: p("handoff"),
        is_silent: p("is_silent"),
        quiet_run: p("quiet_run"),
        returned_micros: p("returned_micros"),
        reserved_micros: p("reserved_micros"),
      })
      .where("session_id", "=", p("session_id")),
);
export function saveLink(tx: Tx, link: LinkRow): Promise<number> {
  return tx.run(updateLink, link);
}

const dropLink = prepare<{ childId: string }, unknown>((db, p) =>
  db.deleteFrom("session_links").where("session_id", "=", p("childId")),
);
export function deleteLink(tx: Tx, childId: string): Promise<number> {
  return tx.run(dropLink, { childId });
}

const LIVE = ["active", "hibernated"] as const;

const selectChildren = prepare<{ parentId: string; limit: number }, SessionRow>((db, p) =>
  db
    .selectFrom("session_links")
    .innerJoin("sessions", "sessions.id", "session_links.session_id")
    .selectAll("sessions")
    .where("session_links.parent_session_id", "=", p("parentId"))
    .orderBy((eb) =>
      eb.case().when("sessions.lifecycle", "in", LIVE).then(eb.lit(0)).else(eb.lit(1)).end(),
    )
    .orderBy("session_links.created_at", "desc")
    .orderBy("session_links.session_id", "desc")
    .limit(p("limit")),
);
/** Lists child sessions in every state: live ones first, then the newest. */
export function listChildSessions(
  reader: Reader,
  parentId: string,
  limit: number,
): Promise<SessionRow[]> {
  return reader.all(selectChildren, { parentId, limit });
}

export interface ChildTotals {
  count: number;
  costMicros: number;
  isCostUnknown: boolean;
}

const selectTotals = prepare<
  { parentId: string },
  { count: number; cost: number | null; unknown: number | null }
>((db, p) =>
  db
    .selectFrom("session_links")
    .innerJoin("sessions", "sessions.id", "session_links.session_id")
    .select((eb) => [
      eb.fn.countAll<number>().as("count"),
      eb.fn.sum<number>("sessions.cost_micros").as("cost"),
      eb.fn.max("sessions.cost_unknown").as("unknown"),
    ])
    .where("session_links.parent_session_id", "=", p("parentId")),
);
/** Totals over all children. */
export async function addUpChildren(reader: Reader, parentId: string): Promise<ChildTotals> {
  const totals = await reader.first(selectTotals, { parentId });
  return {
    count: Number(totals?.count ?? 0),
    costMicros: Number(totals?.cost ?? 0),
    isCostUnknown: Number(totals?.unknown ?? 0) === 1,
  };
}

const CHILD_FIELDS = [
  "sessions.id as child_id",
  "sessions.title as child_title",
  "sessions.repo as child_repo",
  "sessions.lifecycle as child_lifecycle",
  "sessions.run_state as child_run_state",
  "sessions.last_outcome as child_last_outcome",
  "sessions.awaiting as child_awaiting",
  "sessions.waiting as child_waiting",
] as const;
/** Leaves out tool inputs and outputs, which may be long. */
const ENTRY_FIELDS = [
  "events.seq",
  "events.type",
  "events.at",
  "events.entry_id",
  "events.kind",
  "events.role",
  "events.content",
  "events.tool_name",
  "events.data",
  "events.redacted_at",
] as const;

type ChildFields = Pick<
  SessionRow,
  "id" | "title" | "repo" | "lifecycle" | "run_state" | "last_outcome" | "awaiting" | "waiting"
>;
type Prefixed<T> = { [K in keyof T as `child_${K & string}`]: T[K] };
export interface ChildWithEntry {
  child: ChildFields;
  /** Newest entry of the child's transcript. */
  entry: EventRow | null;
}

const selectLiveChildren = prepare<
  { parentId: string; limit: number },
  Prefixed<ChildFields> & EventRow
>((db, p) =>
  db
    .selectFrom("session_links")
    .innerJoin("sessions", "sessions.id", "session_links.session_id")
    .leftJoin("events", (join) =>
      join
        .onRef("events.session_id", "=", "sessions.id")
        .on("events.seq", "=", (eb) =>
          eb
            .selectFrom("events as newest")
            .select("newest.seq")
            .whereRef("newest.session_id", "=", "sessions.id")
            .where("newest.entry_id", "is not", null)
            .orderBy("newest.seq", "desc")
            .limit(1),
        ),
    )
    .select([...CHILD_FIELDS, ...ENTRY_FIELDS])
    .where("session_links.parent_session_id", "=", p("parentId"))
    .where("sessions.lifecycle", "in", LIVE)
    .orderBy("session_links.created_at", "desc")
    .orderBy("session_links.session_id", "desc")
    .limit(p("limit"))
    .$castTo<Prefixed<ChildFields> & EventRow>(),
);
/** Lists the newest live children, each with its newest entry. */
export async function listLiveChildren(
  reader: Reader,
  parentId: string,
  limit: number,
): Promise<ChildWithEntry[]> {
  const rows = await reader.all(selectLiveChildren, { parentId, limit });
  return rows.map((row) => ({
    child: {
      id: row.child_id,
      title: row.child_title,
      repo: row.child_repo,
      lifecycle: row.child_lifecycle,
      run_state: row.child_run_state,
      last_outcome: row.child_last_outcome,
      awaiting: row.child_awaiting,
      waiting: row.child_waiting,
    },
    entry: row.entry_id === null ? null : { ...WITHOUT, ...row },
  }));
}
const WITHOUT = { tool_input: null, tool_output: null, error: null };

const anyLiveOf = prepare<{ parentId: string; thread: string }, { id: string }>((db, p) =>
  db
    .selectFrom("session_links")
    .innerJoin("sessions", "sessions.id", "session_links.session_id")
    .select("sessions.id")
    .where("session_links.parent_session_id", "=", p("parentId"))
    .where("session_links.parent_thread", "=", p("thread"))
    .where("sessions.lifecycle", "in", LIVE)
    .limit(1),
);
/** True if this thread has a live child that it may still be notified of. */
export async function hasLiveChild(
  reader: Reader,
  parentId: string,
  thread: string,
): Promise<boolean> {
  return (await reader.first(anyLiveOf, { parentId, thread })) !== undefined;
}

const selectReplaced = prepare<{ sessionId: string; promptId: string }, PromptRow>((db, p) =>
  db
    .selectFrom("prompts")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("superseded_by", "=", p("promptId"))
    .limit(1),
);
/** Finds the prompt whose turn was superseded by this one. */
export function findReplaced(
  reader: Reader,
  { session_id: sessionId, id: promptId }: PromptRow,
): Promise<PromptRow | undefined> {
  return reader.first(selectReplaced, { sessionId, promptId });
}

const countLiveOf = prepare<{ parentId: string }, { count: number }>((db, p) =>
  db
    .selectFrom("sessions")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("parent_session_id", "=", p("parentId"))
    .where("lifecycle", "=", "active"),
);
/** Counts active children: an idle one counts, a hibernated one does not. */
export async function countLiveChildren(reader: Reader, parentId: string): Promise<number> {
  return Number((await reader.first(countLiveOf, { parentId }))?.count ?? 0);
}

type LiveChild = Pick<SessionRow, "id" | "title" | "run_state">;
const selectLiveOf = prepare<{ parentId: string; limit: number }, LiveChild>((db, p) =>
  db
    .selectFrom("sessions")
    .select(["id", "title", "run_state"])
    .where("parent_session_id", "=", p("parentId"))
    .where("lifecycle", "=", "active")
    .orderBy("updated_at")
    .orderBy("id")
    .limit(p("limit")),
);
/** Lists the active children, the one idle for longest first. */
export function listActiveChildren(
  reader: Reader,
  parentId: string,
  limit: number,
): Promise<LiveChild[]> {
  return reader.all(selectLiveOf, { parentId, limit });
}
