/** The only SQL on the log of events. */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { EventRow, KernelTables } from "#engine/schema.ts";
import type { EntryKind } from "#protocol/sessions.ts";

const prepare = statements<KernelTables>();

const EVENT_COLUMNS = [
  "session_id",
  "seq",
  "org_id",
  "type",
  "v",
  "at",
  "thread",
  "prompt_id",
  "run_id",
  "entry_id",
  "kind",
  "role",
  "content",
  "tool_name",
  "tool_input",
  "tool_output",
  "error",
  "exit_code",
  "reason",
  "data",
  "redacted_at",
] as const satisfies readonly (keyof EventRow)[];

const insertEventRows = inserter<EventRow>("events", EVENT_COLUMNS);
/** SQLite and PostgreSQL both bound the parameters of one statement. */
const EVENTS_PER_INSERT = 200;

export async function insertEvents(tx: Tx, rows: readonly EventRow[]): Promise<void> {
  for (let from = 0; from < rows.length; from += EVENTS_PER_INSERT) {
    await tx.execute(insertEventRows(tx.dialect, rows.slice(from, from + EVENTS_PER_INSERT)));
  }
}

const selectEventsAfter = prepare<{ sessionId: string; after: number; limit: number }, EventRow>(
  (db, p) =>
    db
      .selectFrom("events")
      .selectAll()
      .where("session_id", "=", p("sessionId"))
      .where("seq", ">", p("after"))
      .orderBy("seq")
      .limit(p("limit")),
);
export function listEvents(
  reader: Reader,
  sessionId: string,
  after: number,
  limit: number,
): Promise<EventRow[]> {
  return reader.all(selectEventsAfter, { sessionId, after, limit });
}

const selectEntry = prepare<{ sessionId: string; entryId: string }, EventRow>((db, p) =>
  db
    .selectFrom("events")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("entry_id", "=", p("entryId"))
    .orderBy("seq"),
);
/** Rows of an entry. A call and its result may share one. */
export function listEntryRows(
  reader: Reader,
  sessionId: string,
  entryId: string,
): Promise<EventRow[]> {
  return reader.all(selectEntry, { sessionId, entryId });
}

const selectCalls = prepare<{ sessionId: string; promptId: string }, EventRow>((db, p) =>
  db
    .selectFrom("events")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("prompt_id", "=", p("promptId"))
    .where("type", "in", ["pre_tool", "post_tool"]),
);
/** Calls of one turn, and their results. */
export function listCallsOfPrompt(
  reader: Reader,
  sessionId: string,
  promptId: string,
): Promise<EventRow[]> {
  return reader.all(selectCalls, { sessionId, promptId });
}

type RedactedRow = Pick<
  EventRow,
  "session_id" | "seq" | "content" | "tool_input" | "tool_output" | "error" | "data" | "redacted_at"
>;
const updateRedacted = prepare<RedactedRow, unknown>((db, p) =>
  db
    .updateTable("events")
    .set({
      content: p("content"),
      tool_input: p("tool_input"),
      tool_output: p("tool_output"),
      error: p("error"),
      data: p("data"),
      redacted_at: p("redacted_at"),
    })
    .where("session_id", "=", p("session_id"))
    .where("seq", "=", p("seq")),
);
/** Redacts a row; the log allows no other change. */
export function saveRedacted(tx: Tx, row: RedactedRow): Promise<number> {
  return tx.run(updateRedacted, row);
}

const SIZED_COLUMNS = ["content", "tool_input", "tool_output", "error", "data"] as const;
/** Size of an event in SQL; both databases know it without reading the content. */
export const EVENT_BYTES = SIZED_COLUMNS.map((name) => `coalesce(octet_length(${name}), 0)`).join(
  " + ",
);
const EVENT_SIZES = {
  sqlite: `select ${EVENT_BYTES} as bytes from events
    where session_id = ? and seq > ? order by seq limit ?`,
  postgres: `select ${EVENT_BYTES} as bytes from events
    where session_id = $1 and seq > $2 order by seq limit $3`,
} as const;

/** Sizes of the events after a seq, in order. */
export async function listEventSizes(
  reader: Reader,
  sessionId: string,
  after: number,
  limit: number,
): Promise<number[]> {
  const rows = await reader.query<{ bytes: number }>({
    sql: EVENT_SIZES[reader.dialect],
    parameters: [sessionId, after, limit],
  });
  return rows.map(({ bytes }) => Number(bytes));
}

export interface CallSpan {
  sessionId: string;
  /** Seq after which events are read. */
  after: number;
  tools: readonly string[];
  limit: number;
}
/** Newest calls of these tools and their results, newest first. */
export function listCallEvents(
  reader: Reader,
  { sessionId, after, tools, limit }: CallSpan,
): Promise<EventRow[]> {
  const query = builder<KernelTables>(reader.dialect)
    .selectFrom("events")
    .selectAll()
    .where("session_id", "=", sessionId)
    .where("seq", ">", after)
    .where("type", "in", ["pre_tool", "post_tool"])
    .where("tool_name", "in", tools)
    .orderBy("seq", "desc")
    .limit(limit);
  return reader.query<EventRow>(query.compile());
}

const selectHistory = prepare<
  { sessionId: string; thread: string; after: number; before: number; limit: number },
  EventRow
>((db, p) =>
  db
    .selectFrom("events")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("seq", ">", p("after"))
    .where("seq", "<", p("before"))
    .where("thread", "=", p("thread"))
    .where("entry_id", "is not", null)
    .orderBy("seq", "desc")
    .limit(p("limit")),
);
/** Newest entries of a thread between two seqs, in order. */
export async function listHistory(
  reader: Reader,
  span: { sessionId: string; thread: string; after: number; before: number; limit: number },
): Promise<EventRow[]> {
  return (await reader.all(selectHistory, span)).reverse();
}

const selectLastEntry = prepare<{ sessionId: string }, EventRow>((db, p) =>
  db
    .selectFrom("events")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("entry_id", "is not", null)
    .orderBy("seq", "desc")
    .limit(1),
);
/** Last entry of a session. */
export function findLastEntry(reader: Reader, sessionId: string): Promise<EventRow | undefined> {
  return reader.first(selectLastEntry, { sessionId });
}

export interface EntryFilter {
  sessionId: string;
  thread?: string | undefined;
  before?: number | undefined;
  after?: number | undefined;
  /** Limits the entries to these kinds. */
  kinds?: readonly EntryKind[] | undefined;
  limit: number;
}
/**
 * A page of the transcript: the newest before `before`, or the oldest after `after`; always in
 * order.
 */
export async function listEntries(reader: Reader, filter: EntryFilter): Promise<EventRow[]> {
  let query = builder<KernelTables>(reader.dialect)
    .selectFrom("events")
    .selectAll()
    .where("session_id", "=", filter.sessionId)
    .where("entry_id", "is not", null);
  if (filter.thread !== undefined) query = query.where("thread", "=", filter.thread);
  if (filter.before !== undefined) query = query.where("seq", "<", filter.before);
  if (filter.after !== undefined) query = query.where("seq", ">", filter.after);
  if (filter.kinds !== undefined) query = query.where("kind", "in", filter.kinds);
  const forwards = filter.after !== undefined;
  const rows = await reader.query<EventRow>(
    query
      .orderBy("seq", forwards ? "asc" : "desc")
      .limit(filter.limit)
      .compile(),
  );
  return forwards ? rows : rows.reverse();
}
