/** The only SQL on prompts. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables, PromptRow } from "#engine/schema.ts";
import type { TurnWait } from "#protocol/sessions.ts";

const prepare = statements<KernelTables>();

const PROMPT_COLUMNS = [
  "id",
  "org_id",
  "owner_id",
  "created_by",
  "session_id",
  "thread",
  "author_kind",
  "author_id",
  "author_name",
  "origin",
  "mode",
  "state",
  "outcome",
  "rank",
  "position",
  "content",
  "notice",
  "is_guest",
  "attachments",
  "content_hash",
  "dispatch_id",
  "cause_key",
  "run_id",
  "run_options",
  "attempts",
  "superseded_by",
  "merged_into",
  "error_code",
  "error_message",
  "accepted_at",
  "queued_at",
  "started_at",
  "settled_at",
  "ended_waiting_for",
] as const satisfies readonly (keyof PromptRow)[];

const insertPromptRow = inserter<PromptRow>("prompts", PROMPT_COLUMNS);
export function insertPrompt(tx: Tx, row: PromptRow): Promise<number> {
  return tx.execute(insertPromptRow(tx.dialect, [row]));
}

const updatePrompt = prepare<PromptRow, unknown>((db, p) =>
  db
    .updateTable("prompts")
    .set({
      mode: p("mode"),
      state: p("state"),
      outcome: p("outcome"),
      rank: p("rank"),
      position: p("position"),
      content: p("content"),
      notice: p("notice"),
      content_hash: p("content_hash"),
      attempts: p("attempts"),
      superseded_by: p("superseded_by"),
      merged_into: p("merged_into"),
      error_code: p("error_code"),
      error_message: p("error_message"),
      queued_at: p("queued_at"),
      started_at: p("started_at"),
      settled_at: p("settled_at"),
      ended_waiting_for: p("ended_waiting_for"),
    })
    .where("id", "=", p("id")),
);
export function savePrompt(tx: Tx, row: PromptRow): Promise<number> {
  return tx.run(updatePrompt, row);
}

const setWaiting = prepare<{ id: string; kind: TurnWait }, unknown>((db, p) =>
  db
    .updateTable("prompts")
    .set({ ended_waiting_for: p("kind") })
    .where("id", "=", p("id"))
    // A call performed after the end of its turn does not tell how that turn ended.
    .where("state", "<>", "settled"),
);
/** Records that the turn of a prompt ends by waiting; the session is locked. */
export function markWaiting(tx: Tx, id: string, kind: TurnWait): Promise<number> {
  return tx.run(setWaiting, { id, kind });
}

interface RedactedPrompt {
  sessionId: string;
  id: string;
  text: string;
}
const updateRedactedPrompt = prepare<RedactedPrompt, unknown>((db, p) =>
  db
    .updateTable("prompts")
    .set({ content: p("text"), notice: null, attachments: "[]", content_hash: "" })
    .where("session_id", "=", p("sessionId"))
    .where((eb) => eb.or([eb("id", "=", p("id")), eb("merged_into", "=", p("id"))]))
    .where("state", "=", "settled"),
);
/** Removes the words of a settled prompt, and of those that were collected into it. */
export function redactPrompt(tx: Tx, redacted: RedactedPrompt): Promise<number> {
  return tx.run(updateRedactedPrompt, redacted);
}

const selectPrompt = prepare<{ id: string }, PromptRow>((db, p) =>
  db.selectFrom("prompts").selectAll().where("id", "=", p("id")),
);
export function findPrompt(reader: Reader, id: string): Promise<PromptRow | undefined> {
  return reader.first(selectPrompt, { id });
}
const selectPromptByRun = prepare<{ runId: string }, PromptRow>((db, p) =>
  db.selectFrom("prompts").selectAll().where("run_id", "=", p("runId")),
);
export function findPromptByRun(reader: Reader, runId: string): Promise<PromptRow | undefined> {
  return reader.first(selectPromptByRun, { runId });
}
const selectByDispatch = prepare<{ sessionId: string; dispatchId: string }, PromptRow>((db, p) =>
  db
    .selectFrom("prompts")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("dispatch_id", "=", p("dispatchId")),
);
export function findPromptByDispatch(
  reader: Reader,
  sessionId: string,
  dispatchId: string,
): Promise<PromptRow | undefined> {
  return reader.first(selectByDispatch, { sessionId, dispatchId });
}
const selectByCause = prepare<{ causeKey: string }, PromptRow>((db, p) =>
  db.selectFrom("prompts").selectAll().where("cause_key", "=", p("causeKey")),
);
export function findPromptByCause(
  reader: Reader,
  causeKey: string,
): Promise<PromptRow | undefined> {
  return reader.first(selectByCause, { causeKey });
}

const WAITING = ["queued", "collecting"] as const;

const countWaitingInThread = prepare<{ sessionId: string; thread: string }, { n: number }>(
  (db, p) =>
    db
      .selectFrom("prompts")
      .select((eb) => eb.fn.countAll<number>().as("n"))
      .where("session_id", "=", p("sessionId"))
      .where("state", "in", WAITING)
      .where("thread", "=", p("thread")),
);
export async function countWaiting(
  reader: Reader,
  sessionId: string,
  thread: string,
): Promise<number> {
  return (await reader.first(countWaitingInThread, { sessionId, thread }))?.n ?? 0;
}

const selectNextInSession = prepare<{ sessionId: string }, PromptRow>((db, p) =>
  db
    .selectFrom("prompts")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("state", "in", WAITING)
    .where("state", "=", "queued")
    .orderBy("rank")
    .orderBy("position")
    .limit(1),
);
const selectNextInThread = prepare<{ sessionId: string; thread: string }, PromptRow>((db, p) =>
  db
    .selectFrom("prompts")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("state", "in", WAITING)
    .where("state", "=", "queued")
    .where("thread", "=", p("thread"))
    .orderBy("rank")
    .orderBy("position")
    .limit(1),
);
export function nextQueued(
  reader: Reader,
  sessionId: string,
  thread: string | null,
): Promise<PromptRow | undefined> {
  return thread === null
    ? reader.first(selectNextInSession, { sessionId })
    : reader.first(selectNextInThread, { sessionId, thread });
}

const selectCollecting = prepare<{ sessionId: string; thread: string }, PromptRow>((db, p) =>
  db
    .selectFrom("prompts")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("state", "in", WAITING)
    .where("state", "=", "collecting")
    .where("thread", "=", p("thread"))
    .orderBy("position"),
);
export function listCollecting(
  reader: Reader,
  sessionId: string,
  thread: string,
): Promise<PromptRow[]> {
  return reader.all(selectCollecting, { sessionId, thread });
}

const selectWaiting = prepare<{ sessionId: string; limit: number }, PromptRow>((db, p) =>
  db
    .selectFrom("prompts")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("state", "in", WAITING)
    .orderBy("rank")
    .orderBy("position")
    .limit(p("limit")),
);
/** Waiting prompts in the order in which they will run. */
export function listWaiting(
  reader: Reader,
  sessionId: string,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<PromptRow[]> {
  return reader.all(selectWaiting, { sessionId, limit });
}

const selectWaitingIds = prepare<{ sessionId: string }, { id: string }>((db, p) =>
  db
    .selectFrom("prompts")
    .select("id")
    .where("session_id", "=", p("sessionId"))
    .where("state", "in", WAITING)
    .orderBy("rank")
    .orderBy("position"),
);
export async function listWaitingIds(reader: Reader, sessionId: string): Promise<string[]> {
  return (await reader.all(selectWaitingIds, { sessionId })).map((row) => row.id);
}

const countBefore = prepare<{ sessionId: string; rank: number; position: number }, { n: number }>(
  (db, p) =>
    db
      .selectFrom("prompts")
      .select((eb) => eb.fn.countAll<number>().as("n"))
      .where("session_id", "=", p("sessionId"))
      .where("state", "in", WAITING)
      .where((eb) =>
        eb.or([
          eb("rank", "<", p("rank")),
          eb.and([eb("rank", "=", p("rank")), eb("position", "<", p("position"))]),
        ]),
      ),
);
/** Counts the prompts that run before this one. */
export async function countAhead(reader: Reader, row: PromptRow): Promise<number> {
  const { session_id: sessionId, rank, position } = row;
  return (await reader.first(countBefore, { sessionId, rank, position }))?.n ?? 0;
}

export interface PromptFilter {
  sessionId: string;
  states?: readonly PromptRow["state"][] | undefined;
  before?: { at: number; id: string } | undefined;
  limit: number;
}
/** Prompts that match the filter, newest first. */
export function listPrompts(reader: Reader, filter: PromptFilter): Promise<PromptRow[]> {
  let query = builder<KernelTables>(reader.dialect)
    .selectFrom("prompts")
    .selectAll()
    .where("session_id", "=", filter.sessionId);
  if (filter.states) query = query.where("state", "in", filter.states);
  const { before } = filter;
  if (before) {
    query = query.where((eb) =>
      eb.or([
        eb("accepted_at", "<", before.at),
        eb.and([eb("accepted_at", "=", before.at), eb("id", "<", before.id)]),
      ]),
    );
  }
  return reader.query<PromptRow>(
    query.orderBy("accepted_at", "desc").orderBy("id", "desc").limit(filter.limit).compile(),
  );
}
