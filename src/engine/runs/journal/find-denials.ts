/** Judges calls again that were allowed when journaled and are not performed yet. */

import type { EventRow, RunRow } from "#engine/schema.ts";
import { findJudgedCalls } from "#engine/tools/queries.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import type { Decision } from "#protocol/frames.ts";
import type { Verdict } from "#protocol/sessions.ts";

interface CallData {
  callId?: string;
  cwd?: string;
  verdict?: Verdict;
}

/**
 * Calls of a resumed turn that have no result and are denied by now. They are sent as decisions:
 * the runner knows which of them the lost attempt may have begun, and reports those as such.
 */
export async function findDenials(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  journal: readonly EventRow[],
): Promise<Decision[]> {
  const answered = new Set(
    journal.filter(({ type }) => type === "post_tool").map((row) => dataOf(row).callId),
  );
  const denials: Decision[] = [];
  for (const row of journal) {
    const { callId, cwd, verdict } = dataOf(row);
    const isOpen = row.type === "pre_tool" && callId !== undefined && !answered.has(callId);
    if (!isOpen || verdict?.verdict !== "allow") continue;
    const input: unknown = row.tool_input === null ? null : JSON.parse(row.tool_input);
    const call = { callId, tool: row.tool_name ?? "", input, cwd };
    const reason = await work.findDenial(session, run, call);
    if (reason !== undefined)
      denials.push({ callId, allowed: false, reason, answers: null, fresh: true });
  }
  return denials;
}

/** Verdicts on calls that waited for another one and are denied by now, by call id. */
export async function recheckCalls(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  callIds: ReadonlySet<string>,
): Promise<Record<string, Verdict>> {
  const verdicts: Record<string, Verdict> = {};
  for (const call of await findJudgedCalls(work.tx, run, callIds)) {
    if (call.verdict !== "allow") continue;
    const reason = await work.findDenial(session, run, call);
    if (reason !== undefined) verdicts[call.callId] = { verdict: "deny", reason };
  }
  return verdicts;
}

function dataOf(row: Pick<EventRow, "data">): CallData {
  return JSON.parse(row.data ?? "{}") as CallData;
}
