/** Reads the logs of sessions for search. */
import { type builder, type Reader, statements } from "#base/store/index.ts";
import type { KernelTables } from "#engine/index.ts";
import type { EntryPlace } from "../matching/places.ts";

const prepare = statements<KernelTables>();

/** Maximum of characters to read of one field. */
const MAX_FIELD_CHARS = 32_000;

export interface EntryRow {
  session_id: string;
  seq: number;
  entry_id: string | null;
  type: string;
  kind: string | null;
  at: number;
  tool_name: string | null;
  /** JSON, cut off if it is too long. */
  content: string | null;
  tool_input: string | null;
  tool_output: string | null;
  error: string | null;
  redacted_at: number | null;
}

const FIELDS = ["content", "tool_input", "tool_output", "error"] as const;
const PLAIN = [
  "session_id",
  "seq",
  "entry_id",
  "type",
  "kind",
  "at",
  "tool_name",
  "redacted_at",
] as const;

type Database = ReturnType<typeof builder<KernelTables>>;
const entries = (db: Database) =>
  db
    .selectFrom("events")
    .select(PLAIN)
    .select((eb) =>
      FIELDS.map((field) =>
        eb.fn<string | null>("substr", [field, eb.lit(1), eb.lit(MAX_FIELD_CHARS)]).as(field),
      ),
    );

const selectAfter = prepare<{ sessionId: string; after: number; limit: number }, EntryRow>(
  (db, p) =>
    entries(db)
      .where("session_id", "=", p("sessionId"))
      .where("seq", ">", p("after"))
      .orderBy("seq")
      .limit(p("limit")) as never,
);
/** Lists all events in order, not only the visible ones. */
export function listLog(
  reader: Reader,
  sessionId: string,
  after: number,
  limit: number,
): Promise<EntryRow[]> {
  return reader.all(selectAfter, { sessionId, after, limit });
}

const selectAt = prepare<EntryPlace, EntryRow>(
  (db, p) =>
    entries(db).where("session_id", "=", p("sessionId")).where("seq", "=", p("seq")) as never,
);
export function findEntry(reader: Reader, place: EntryPlace): Promise<EntryRow | undefined> {
  return reader.first(selectAt, place);
}
