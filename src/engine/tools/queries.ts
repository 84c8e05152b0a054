/** The only SQL on the results of server tools. */
import { type Reader, statements, type Tx } from "#base/store/index.ts";
import { cleanJson } from "#base/text.ts";
import type { KernelTables, RunRow, ToolResultRow } from "../schema.ts";

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
): Promise<{ output: unknown; error: string | null } | undefined> {
  const row = await reader.first(selectResult, { promptId, callId });
  return row && (JSON.parse(row.result) as { output: unknown; error: string | null });
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
  result: { output: unknown; error: string | null },
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
