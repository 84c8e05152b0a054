/** Updates the run state that a session shows, after one of its runs has changed. */
import { listLiveRuns } from "#engine/runs/queries.ts";
import type { RunRow } from "#engine/schema.ts";
import { showLiveRuns } from "#engine/transitions/session-transitions.ts";
import type { SessionWriter, Work } from "#engine/work.ts";

/** Shows the state of a run, which must be live and saved. */
export async function showRunState(work: Work, { row }: SessionWriter, run: RunRow): Promise<void> {
  const live = row.exclusive === 1 ? [run] : await listLiveRuns(work.tx, row.id);
  Object.assign(row, showLiveRuns(live.map(({ state }) => state)));
}
