/** The only SQL on the results of server tools. */
import { type Reader, statements, type Tx } from "#base/store/index.ts";
import { cleanJson } from "#base/text.ts";
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
 * What became of a call that its runner could not tell the outcome of, as a model reads it: what the
 * server performed is known, and is said rather than that nobody knows.
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

export interface JournaledCall {
  callId: string;
  tool: string;
  input: unknown;
  cwd: string | null;
  verdict: Verdict["verdict"];
}

/** A turn may be long, but what is called now was journaled a moment ago. */
const LOOK_BACK = 200;

const selectCalls = prepare<
  { sessionId: string; promptId: string; after: number; limit: number },
  Pick<EventRow, "tool_name" | "tool_input" | "data">
>((db, p) =>
  db
    .selectFrom("events")
    .select(["tool_name", "tool_input", "data"])
    .where("session_id", "=", p("sessionId"))
    .where("seq", ">", p("after"))
    .where("prompt_id", "=", p("promptId"))
    .where("type", "=", "pre_tool")
    .orderBy("seq", "desc")
    .limit(p("limit")),
);
export async function findJudgedCall(
  reader: Reader,
  { session_id: sessionId, prompt_id: promptId, first_seq: after }: RunRow,
  callId: string,
): Promise<JournaledCall | undefined> {
  const rows = await reader.all(selectCalls, { sessionId, promptId, after, limit: LOOK_BACK });
  for (const { tool_name, tool_input, data } of rows) {
    const facts = JSON.parse(data ?? "{}") as { callId?: string; cwd?: string; verdict?: Verdict };
    if (facts.callId !== callId || !facts.verdict) continue;
    const input: unknown = tool_input === null ? null : JSON.parse(tool_input);
    const { cwd = null, verdict } = facts;
    return { callId, tool: tool_name ?? "", input, cwd, verdict: verdict.verdict };
  }
  return undefined;
}
