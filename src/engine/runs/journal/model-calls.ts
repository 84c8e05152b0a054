/**
 * Model requests that the server counted itself, because they went through its model gateway. For
 * such an attempt the gateway's record is the truth: the runner's report of the same requests is
 * neither counted nor logged.
 */
import { cleanText } from "#base/text/clean-text.ts";
import type { RunRow } from "#engine/schema.ts";
import { addBounded, addUsage } from "#engine/sessions/turns/turns.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import type { ModelCallItem } from "#protocol/events.ts";
import { saveRun } from "../queries.ts";
import { draftOf } from "./journal-items.ts";

/** True when the present attempt of a run has used the model gateway. */
export function isCountedByServer({ metered_fence, fence }: RunRow): boolean {
  return fence > 0 && metered_fence === fence;
}

/** Makes the server count the model cost of this attempt from now on. */
export async function countByServer(work: Work, run: RunRow): Promise<void> {
  if (isCountedByServer(run)) return;
  run.metered_fence = run.fence;
  await saveRun(work.tx, run);
}

/** Writes one metered request to the log, the run, the session and all listeners. */
export async function meterModelCall(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  call: ModelCallItem,
): Promise<void> {
  session.record({
    ...draftOf(call),
    // Written as the system: the turn may have ended, because an answer is counted at its end.
    role: "system",
    thread: run.thread,
    promptId: run.prompt_id,
    runId: run.id,
  });
  countModelCall(session, run, call);
  await saveRun(work.tx, run);
  await work.emit({ type: "model_called", session, run, call });
}

/** No provider's stop reason is longer. */
const MAX_STOP_CHARS = 64;

/** Adds the cost and time of a request to its run and session, and keeps the model's stop reason. */
export function countModelCall(session: SessionWriter, run: RunRow, call: ModelCallItem): void {
  run.worked_ms = addBounded(run.worked_ms, call.durationMs);
  run.model_stop = cleanText(call.stopReason).slice(0, MAX_STOP_CHARS);
  addUsage(session, run, call);
}
