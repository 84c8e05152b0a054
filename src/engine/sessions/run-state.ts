/** What a session shows of its runs, after one of them has changed. */
import { listLiveRuns } from "../runs/queries.ts";
import type { RunRow } from "../schema.ts";
import type { SessionWriter, Work } from "../work.ts";
import { mostTelling } from "./states.ts";

/** The run must be live and saved. */
export async function showRunState(work: Work, { row }: SessionWriter, run: RunRow): Promise<void> {
  row.run_state =
    row.exclusive === 1
      ? run.state
      : mostTelling((await listLiveRuns(work.tx, row.id)).map((live) => live.state));
}
