/** Remembers a failed summary of a thread, so that not every turn tries it again. */
import type { Tx } from "#base/store/index.ts";
import { findThread, saveSummaryRetry } from "#engine/sessions/queries.ts";

/** Pause after the first failure; it doubles with each further one in a row. */
const FIRST_PAUSE_MS = 10 * 60_000;
const MAX_PAUSE_MS = 24 * 60 * 60_000;

function summaryPauseMs(failures: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS);
}

export async function putOffSummary(tx: Tx, sessionId: string, name: string): Promise<void> {
  const thread = await findThread(tx, sessionId, name);
  if (!thread) return;
  const failures = thread.summary_failures + 1;
  await saveSummaryRetry(tx, thread.id, failures, tx.now + summaryPauseMs(failures));
}
