/** The only SQL on the results of server tools. */
import { type Reader, statements, type Tx } from "#base/store/index.ts";
import { cleanJson } from "#base/text/clean-text.ts";
import type { Verdict } from "#protocol/sessions.ts";
import type { EventRow, KernelTables, RunRow, ToolResultRow } from "../schema.ts";

const prepare = statements<KernelTables>();

const selectResult = prepare<{ promptId: string; callId: string }, ToolResultRow>((db, p) =>
  db
    .selectFrom("tool_results")
    .selectAll()
    .where("prompt_id", "=", p("promptId"))
    .where("call_id", "=", p("callId")),
);
export async function findToolResult(
  reader: Reader,
  promptId: string,
  callId: string,
): Promise<KeptResult | undefined> {
  const row = await reader.first(selectResult, { promptId, callId });
  return row && (JSON.parse(row.result) as KeptResult);
}

interface KeptResult {
  output: unknown;
  error: string | null;
  endsTurn?: boolean;
}

/**
 * Finds the result of a call whose runner could not report its outcome, as a model reads it. The
 * server knows the result of every call that it performed itself.
 */
export async function findKnownAnswer(
  reader: Reader,
  promptId: string,
  callId: string,
): Promise<(KeptResult & { output: string }) | undefined> {
  const kept = await findToolResult(reader, promptId, callId);
  if (!kept) return undefined;
  const { output } = kept;
  return { ...kept, output: typeof output === "string" ? output : JSON.stringify(output ?? "") };
}

const insertResult = prepare<ToolResultRow, unknown>((db, p) =>
  db.insertInto("tool_results").values({
    session_id: p("session_id"),
    prompt_id: p("prompt_id"),
    call_id: p("call_id"),
    org_id: p("org_id"),
    result: p("result"),
    created_at: p("created_at"),
  }),
);
export function keepToolResult(
  tx: Tx,
  run: RunRow,
  callId: string,
  result: KeptResult,
  now: number,
): Promise<number> {
  return tx.run(insertResult, {
    session_id: run.session_id,
    prompt_id: run.prompt_id,
    call_id: callId,
    org_id: run.org_id,
    result: cleanJson(result),
    created_at: now,
  });
}

const deleteResult = prepare<{ promptId: string; callId: string }, unknown>((db, p) =>
  db
    .deleteFrom("tool_results")
    .where("prompt_id", "=", p("promptId"))
    .where("call_id", "=", p("callId")),
);
/** Deletes the result of a call whose turn has ended: nobody sends that call again. */
export function forgetToolResult(tx: Tx, promptId: string, callId: string): Promise<number> {
  return tx.run(deleteResult, { promptId, callId });
}

export interface JournaledCall {
  callId: string;
  tool: string;
  input: unknown;
  cwd: string | null;
  verdict: Verdict["verdict"];
}

/** A turn may be long, but a call that is performed now was journaled a moment ago. */
const LOOK_BACK = 200;

const selectCalls = prepare<
  { sessionId: string; promptId: string; after: number; limit: number },
  Pick<EventRow, "seq" | "tool_name" | "data">
>((db, p) =>
  db
    .selectFrom("events")
    .select(["seq", "tool_name", "data"])
    .where("session_id", "=", p("sessionId"))
    .where("seq", ">", p("after"))
    .where("prompt_id", "=", p("promptId"))
    .where("type", "=", "pre_tool")
    .orderBy("seq", "desc")
    .limit(p("limit")),
);
const selectInput = prepare<{ sessionId: string; seq: number }, Pick<EventRow, "tool_input">>(
  (db, p) =>
    db
      .selectFrom("events")
      .select("tool_input")
      .where("session_id", "=", p("sessionId"))
      .where("seq", "=", p("seq")),
);

/** Finds judged calls by their ids; inputs are read only for these. */
export async function findJudgedCalls(
  reader: Reader,
  { session_id: sessionId, prompt_id: promptId, first_seq: after }: RunRow,
  callIds: ReadonlySet<string>,
): Promise<JournaledCall[]> {
  if (callIds.size === 0) return [];
  const rows = await reader.all(selectCalls, { sessionId, promptId, after, limit: LOOK_BACK });
  const found = new Map<string, JournaledCall>();
  for (const { seq, tool_name, data } of rows) {
    const facts = JSON.parse(data ?? "{}") as { callId?: string; cwd?: string; verdict?: Verdict };
    const { callId, cwd = null, verdict } = facts;
    if (callId === undefined || !verdict || !callIds.has(callId) || found.has(callId)) continue;
    const given = await reader.first(selectInput, { sessionId, seq });
    const input: unknown = given?.tool_input == null ? null : JSON.parse(given.tool_input);
    found.set(callId, { callId, tool: tool_name ?? "", input, cwd, verdict: verdict.verdict });
  }
  return [...found.values()];
}

export async function findJudgedCall(
  reader: Reader,
  run: RunRow,
  callId: string,
): Promise<JournaledCall | undefined> {
  return (await findJudgedCalls(reader, run, new Set([callId])))[0];
}
