/**
 * Reads the journal of a turn. A turn may have written very much: contents are read only as far as
 * they fit, and only the requested fields of calls.
 */
import type { Reader } from "#base/store/index.ts";
import { statements } from "#base/store/index.ts";
import type { EventRow, KernelTables } from "#engine/schema.ts";
import { EVENT_BYTES } from "../log/event-queries.ts";

const prepare = statements<KernelTables>();

/** A turn of a session: its entries follow seq `after`. */
export interface TurnSpan {
  sessionId: string;
  after: number;
  promptId: string;
}

/**
 * Limit of what is sent again to the next attempt of a turn: results are left out first, oldest
 * first.
 */
const MAX_CHARS = 8_000_000;
/** Limit above which texts and calls are left out too. */
const MAX_ALL_CHARS = 16_000_000;
const LEFT_OUT = "[left out: too long to send again]";
const LEFT_OUT_CONTENT = JSON.stringify([{ type: "text", text: LEFT_OUT }]);
const LEFT_OUT_OUTPUT = JSON.stringify(LEFT_OUT);

const OF_TURN = {
  sqlite: "session_id = ? and seq > ? and prompt_id = ?",
  postgres: "session_id = $1 and seq > $2 and prompt_id = $3",
} as const;

const SIZES = (dialect: Reader["dialect"]) =>
  `select seq, type, ${EVENT_BYTES} as bytes from events
   where ${OF_TURN[dialect]} and entry_id is not null and role = 'assistant' order by seq desc`;

interface WholeFrom {
  /** Seq from which results are read whole, and seq from which everything else is. */
  results: number;
  all: number;
}

const selectWhole = prepare<TurnSpan & WholeFrom, EventRow>((db, p) =>
  db
    .selectFrom("events")
    .selectAll()
    .where("session_id", "=", p("sessionId"))
    .where("seq", ">", p("after"))
    .where("prompt_id", "=", p("promptId"))
    .where("entry_id", "is not", null)
    .where("role", "=", "assistant")
    .where((where) =>
      where.or([
        where("seq", ">=", p("results")),
        where.and([where("type", "!=", "post_tool"), where("seq", ">=", p("all"))]),
      ]),
    )
    .orderBy("seq"),
);

const LIGHT = [
  ...["session_id", "seq", "org_id", "type", "v", "at", "thread", "prompt_id", "run_id"],
  ...["entry_id", "kind", "role", "tool_name", "error", "exit_code", "reason", "redacted_at"],
] as const;

const CALL_ID = { sqlite: "json_extract(data, '$.callId')", postgres: "data::json ->> 'callId'" };
const VERDICT = { sqlite: "json_extract(data, '$.verdict')", postgres: "data::json ->> 'verdict'" };

const LEFT = (dialect: Reader["dialect"]) => {
  const [results, all] = dialect === "sqlite" ? ["?", "?"] : ["$4", "$5"];
  return `select ${LIGHT.join(", ")}, ${CALL_ID[dialect]} as call_id from events
   where ${OF_TURN[dialect]} and entry_id is not null and role = 'assistant'
     and seq < ${results} and (type = 'post_tool' or seq < ${all}) order by seq`;
};

/**
 * Entries that a turn has journaled, in order. In a very long turn, older contents are named but
 * not read.
 */
export async function listTurnEntries(reader: Reader, turn: TurnSpan): Promise<EventRow[]> {
  const parameters = [turn.sessionId, turn.after, turn.promptId];
  const sizes = await reader.query<{ seq: number; type: string; bytes: number }>({
    sql: SIZES(reader.dialect),
    parameters,
  });
  const from = wholeFrom(sizes);
  const whole = await reader.all(selectWhole, { ...turn, ...from });
  if (whole.length === sizes.length) return whole;
  const left = await reader.query<LightRow>({
    sql: LEFT(reader.dialect),
    parameters: [...parameters, from.results, from.all],
  });
  return [...whole, ...left.map(withoutContent)].sort((a, b) => a.seq - b.seq);
}

/** Seqs to read whole from; `sizes` are newest first. */
function wholeFrom(sizes: readonly { seq: number; type: string; bytes: number }[]): WholeFrom {
  const from = { results: 0, all: 0 };
  let [chars, others] = [0, 0];
  for (const { seq, type, bytes } of sizes) {
    chars += Number(bytes);
    if (chars > MAX_CHARS && from.results === 0) from.results = Number(seq) + 1;
    if (from.results > 0 && type !== "post_tool") others += Number(bytes);
    if (MAX_CHARS + others > MAX_ALL_CHARS && from.all === 0) from.all = Number(seq) + 1;
  }
  return from;
}

type LightRow = Omit<EventRow, "content" | "tool_input" | "tool_output" | "data"> & {
  call_id: string | null;
};

function withoutContent({ call_id, ...row }: LightRow): EventRow {
  const isResult = row.type === "post_tool";
  return {
    ...row,
    seq: Number(row.seq),
    content: row.type === "pre_tool" || isResult ? null : LEFT_OUT_CONTENT,
    tool_input: null,
    tool_output: isResult ? LEFT_OUT_OUTPUT : null,
    data: call_id === null ? null : JSON.stringify({ callId: call_id }),
  };
}

/** A call of a turn or its result, without the input. */
export interface TurnCall {
  seq: number;
  type: "pre_tool" | "post_tool";
  call_id: string | null;
  /** Verdict as JSON. */
  verdict: string | null;
}

const CALLS = (dialect: Reader["dialect"]) =>
  `select seq, type, ${CALL_ID[dialect]} as call_id, ${VERDICT[dialect]} as verdict from events
   where ${OF_TURN[dialect]} and type in ('pre_tool', 'post_tool') order by seq`;

/** Calls of a turn and their results, in order. */
export async function listTurnCalls(reader: Reader, turn: TurnSpan): Promise<TurnCall[]> {
  const rows = await reader.query<TurnCall>({
    sql: CALLS(reader.dialect),
    parameters: [turn.sessionId, turn.after, turn.promptId],
  });
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
}

type CallRow = Pick<EventRow, "tool_name" | "tool_input" | "data">;

const selectCall = prepare<{ sessionId: string; seq: number }, CallRow>((db, p) =>
  db
    .selectFrom("events")
    .select(["tool_name", "tool_input", "data"])
    .where("session_id", "=", p("sessionId"))
    .where("seq", "=", p("seq")),
);
export function findCall(
  reader: Reader,
  sessionId: string,
  seq: number,
): Promise<CallRow | undefined> {
  return reader.first(selectCall, { sessionId, seq });
}
