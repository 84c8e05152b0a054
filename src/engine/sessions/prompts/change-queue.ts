/** Changes to a prompt that still waits: withdraw it, edit it, send it now. */
import { cleanJson, cleanText } from "#base/text/clean-text.ts";
import { deleteRun, listLiveRuns } from "#engine/runs/queries.ts";
import type { PromptRow, RunRow } from "#engine/schema.ts";
import { clearTimer } from "#engine/timers/timers.ts";
import { transitionPrompt } from "#engine/transitions/prompt-transitions.ts";
import { showLiveRuns } from "#engine/transitions/session-transitions.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import type { Notice } from "#protocol/notices/notices.ts";
import { cutTurn } from "../turns/cut-turn.ts";
import { endSessionStart, pump, settlePrompt } from "../turns/turns.ts";
import { COLLECT_TIMER } from "./admit-prompt.ts";
import { refuseUnlessWaiting } from "./collect.ts";
import { listCollecting, savePrompt } from "./prompt-queries.ts";
import { RANK_FIRST } from "./prompt-queue.ts";

export async function withdrawPrompt(
  work: Work,
  session: SessionWriter,
  prompt: PromptRow,
): Promise<void> {
  refuseUnlessWaiting(prompt);
  await takeBackRun(work, session, prompt);
  const wasCollecting = prompt.state === "collecting";
  await settlePrompt(work, session, prompt, null, { outcome: "withdrawn" });
  if (
    wasCollecting &&
    (await listCollecting(work.tx, session.row.id, prompt.thread)).length === 0
  ) {
    await clearTimer(work.tx, COLLECT_TIMER, `${session.row.id}/${prompt.thread}`);
  }
  await pump(work, session);
  // The turn before it has ended, and no other prompt is left to follow that turn.
  const outcome = session.row.last_outcome ?? "withdrawn";
  endSessionStart(session, { prompt, runId: null, outcome });
}

export async function editPrompt(
  work: Work,
  session: SessionWriter,
  prompt: PromptRow,
  content: string,
  /** Notice that the new content renders; absent when the content is somebody's own words. */
  notice?: Notice,
): Promise<void> {
  refuseUnlessWaiting(prompt);
  prompt.content = cleanText(content);
  prompt.notice = notice ? cleanJson(notice) : null;
  await savePrompt(work.tx, prompt);
  session.record({ type: "prompt_edited", thread: prompt.thread, promptId: prompt.id });
}

/** Moves a prompt to the front of the queue and cuts the running turn, as a steer would. */
export async function promotePrompt(
  work: Work,
  session: SessionWriter,
  prompt: PromptRow,
): Promise<void> {
  refuseUnlessWaiting(prompt);
  const { row } = session;
  row.next_position += 1;
  prompt.rank = RANK_FIRST;
  prompt.position = row.next_position;
  Object.assign(prompt, transitionPrompt(prompt, { type: "queue", now: work.now }));
  await savePrompt(work.tx, prompt);
  session.record({ type: "prompt_promoted", thread: prompt.thread, promptId: prompt.id });
  const inTheWay = await liveRunFor(work, session, prompt);
  if (!inTheWay) return pump(work, session);
  if (inTheWay.state === "pending" && inTheWay.fence === 0) {
    await deleteRun(work.tx, inTheWay.id);
    return pump(work, session, row.exclusive === 1 ? [] : undefined);
  }
  await cutTurn(work, session, inTheWay, "steer", prompt.id);
}

async function liveRunFor(
  work: Work,
  session: SessionWriter,
  prompt: PromptRow,
): Promise<RunRow | undefined> {
  const live = await listLiveRuns(work.tx, session.row.id);
  return session.row.exclusive === 1 ? live[0] : live.find((run) => run.thread === prompt.thread);
}

/** Removes the unclaimed run that a waiting prompt may have. */
async function takeBackRun(work: Work, session: SessionWriter, prompt: PromptRow): Promise<void> {
  if ((await deleteRun(work.tx, prompt.run_id)) > 0 && session.row.exclusive === 1)
    Object.assign(session.row, showLiveRuns([]));
}
