/**
 * Stops a turn on request. A stop names its turn by the prompt, so that a repeated or late one
 * never reaches the turn after it. A stop without a name means the turn that its sender saw
 * running: shortly after a stopped turn has ended it counts as a repetition of that stop.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import { listLiveRuns } from "#engine/runs/queries.ts";
import { listStoppedSince } from "#engine/runs/session-run-queries.ts";
import type { RunRow } from "#engine/schema.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import { findPrompt } from "../prompts/prompt-queries.ts";
import { cutTurn } from "./cut-turn.ts";

/** Longer than a double press or a retried request takes, shorter than a person needs to read on. */
const REPEATED_STOP_MS = 2_000;

/** Returns the prompts whose turns were told to end. */
export async function stopTurn(
  work: Work,
  session: SessionWriter,
  promptId?: string,
): Promise<string[]> {
  const runs = await turnsToStop(work, session, promptId);
  for (const run of runs) await cutTurn(work, session, run, "stop", null);
  return runs.map(({ prompt_id }) => prompt_id);
}

/** Live runs that a stop means; none when the turn has ended already. */
export async function turnsToStop(
  work: Work,
  session: SessionWriter,
  promptId?: string,
): Promise<RunRow[]> {
  const live = await listLiveRuns(work.tx, session.row.id);
  if (promptId === undefined) return withoutSuccessors(work, session, live);
  const named = live.filter(({ prompt_id }) => prompt_id === promptId);
  if (named.length === 0) await requireEnded(work, session, promptId);
  return named;
}

/** Leaves out turns that began in the place of one that was stopped a moment ago. */
async function withoutSuccessors(
  work: Work,
  { row }: SessionWriter,
  live: RunRow[],
): Promise<RunRow[]> {
  if (live.length === 0) return live;
  const stopped = await listStoppedSince(work.tx, row.id, work.now - REPEATED_STOP_MS);
  if (row.exclusive === 1) return stopped.length === 0 ? live : [];
  const threads = new Set(stopped.map(({ thread }) => thread));
  return live.filter(({ thread }) => !threads.has(thread));
}

async function requireEnded(work: Work, { row }: SessionWriter, promptId: string): Promise<void> {
  const prompt = await findPrompt(work.tx, promptId);
  if (prompt?.session_id !== row.id) throw notFound("prompt");
  if (prompt.state === "settled") return;
  throw new Refusal(
    "conflict",
    "prompt_not_running",
    "This prompt is queued and has no turn to stop. Withdraw it instead.",
  );
}
