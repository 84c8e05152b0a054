/** End of a collect buffer: the held prompts become one prompt at the end of the queue. */
import { Refusal } from "#base/refusal.ts";
import type { PromptRow, TimerRow } from "#engine/schema.ts";
import {
  admittedPrompt,
  isWaiting,
  transitionPrompt,
} from "#engine/transitions/prompt-transitions.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import { pump, settlePrompt } from "../turns/turns.ts";
import { insertPrompt, listCollecting, savePrompt } from "./prompt-queries.ts";
import { mergeCollected, RANK_NORMAL } from "./prompt-queue.ts";

/** Runs when nothing has arrived for the debounce time. */
export async function collectTimerDue(work: Work, timer: TimerRow): Promise<void> {
  // A session's id has no slash; a thread's name may.
  const slash = timer.subject.indexOf("/");
  const session = await work.sessionWithParent(timer.subject.slice(0, slash));
  if (!session) return;
  await flushCollected(work, session, timer.subject.slice(slash + 1));
  await pump(work, session);
}

/**
 * Merges the held prompts. `before` is the position of the prompt that causes it; they go before
 * that.
 */
export async function flushCollected(
  work: Work,
  session: SessionWriter,
  thread: string,
  before?: number,
): Promise<void> {
  const held = (await listCollecting(work.tx, session.row.id, thread)).filter(
    (p) => before === undefined || p.position < before,
  );
  const [first] = held;
  if (!first) return;
  const last = held.at(-1) ?? first;
  if (held.length === 1) return queueAlone(work, session, first);

  const merged = mergedPrompt(work, first, last, held);
  await insertPrompt(work.tx, merged);
  session.row.waiting += 1;
  session.row.prompts_total += 1;
  session.record({
    type: "prompt_accepted",
    thread,
    promptId: merged.id,
    data: { mode: merged.mode, state: merged.state, mergedFrom: held.map((prompt) => prompt.id) },
  });
  for (const prompt of held)
    await settlePrompt(work, session, prompt, null, { outcome: "merged", mergedInto: merged.id });
}

async function queueAlone(work: Work, session: SessionWriter, prompt: PromptRow): Promise<void> {
  Object.assign(prompt, transitionPrompt(prompt, { type: "queue", now: work.now }));
  await savePrompt(work.tx, prompt);
  session.record({ type: "prompt_queued", thread: prompt.thread, promptId: prompt.id });
}

function mergedPrompt(
  work: Work,
  first: PromptRow,
  last: PromptRow,
  held: readonly PromptRow[],
): PromptRow {
  // Merging must not turn an agent's words into a person's.
  const from = held.find(({ author_kind }) => author_kind !== "user") ?? first;
  return {
    ...first,
    created_by: from.created_by,
    author_kind: from.author_kind,
    author_id: from.author_id,
    author_name: from.author_name,
    id: work.ids.mint("pmt"),
    run_id: work.ids.mint("run"),
    ...admittedPrompt(work.now),
    rank: RANK_NORMAL,
    // The position of the last one, so that the merged prompt overtakes none that came after it.
    position: last.position,
    content: mergeCollected(
      held.map(({ author_name, content }) => ({ authorName: author_name, content })),
    ),
    // The merged text quotes each prompt, so it is no longer the wording of one notice.
    notice: null,
    is_guest: Math.max(...held.map(({ is_guest }) => is_guest)),
    attachments: JSON.stringify(
      held.flatMap((prompt) => JSON.parse(prompt.attachments) as unknown[]),
    ),
    dispatch_id: null,
    cause_key: `merge:${first.id}`,
    accepted_at: work.now,
  };
}

/** Refuses prompts whose turn has begun. */
export function refuseUnlessWaiting(prompt: PromptRow): void {
  if (isWaiting(prompt)) return;
  const now = prompt.state === "settled" ? `has ended (${prompt.outcome})` : "is being worked on";
  throw new Refusal(
    "conflict",
    "prompt_not_queued",
    `This prompt ${now}, so it can no longer be changed. Send a new one, or stop the turn.`,
  );
}
