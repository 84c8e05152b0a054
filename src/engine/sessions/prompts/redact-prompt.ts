/**
 * Removes the words of a prompt that never became an entry: one that was withdrawn, or aborted in
 * the queue. No turn has read it, so this may be done while the session works.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import { type Principal, principalKey } from "#engine/requests/principal.ts";
import type { PromptRow } from "#engine/schema.ts";
import { command, type Engine } from "#engine/work.ts";
import { REMOVED } from "../log/event-view.ts";
import { lockToRedact } from "../log/redact-entry.ts";
import { findPrompt, redactPrompt } from "./prompt-queries.ts";

/** Returns the ids of the blanked prompts, blanked now or before. */
export function redactUnstarted(
  engine: Engine,
  principal: Principal,
  promptId: string,
): Promise<string[]> {
  return command(engine, async (work) => {
    const found = await findPrompt(work.tx, promptId);
    if (!found) throw notFound("prompt");
    const session = await lockToRedact(work, principal, found.session_id, "prompt");
    // Read again under the lock: the prompt may have started meanwhile.
    const prompt = await findPrompt(work.tx, promptId);
    if (!prompt) throw notFound("prompt");
    const takenIn =
      prompt.merged_into === null ? undefined : await findPrompt(work.tx, prompt.merged_into);
    requireUnstarted(prompt, takenIn);
    if (isRedacted(prompt)) return [promptId];
    const sessionId = session.row.id;
    await redactPrompt(work.tx, { sessionId, id: promptId, text: REMOVED });
    const by = principalKey(principal);
    session.record({
      type: "session_updated",
      reason: "prompt_redacted",
      promptId,
      data: { by },
    });
    const words = [prompt.content];
    await work.emit({
      type: "entry_redacted",
      session,
      by,
      entryId: promptId,
      kind: "prompt",
      words,
    });
    return [promptId];
  });
}

/** A redacted prompt has no hash: the words that it was made of are gone. */
export function isRedacted({ state, content_hash }: PromptRow): boolean {
  return state === "settled" && content_hash === "";
}

/** Refuses a prompt that has started; `takenIn` is the prompt that took this one in. */
function requireUnstarted(
  { id, state, started_at }: PromptRow,
  takenIn: PromptRow | undefined,
): void {
  if (state !== "settled" && started_at === null)
    throw new Refusal(
      "conflict",
      "prompt_not_settled",
      "This prompt is still queued. Withdraw it first, then remove its content.",
    );
  if (started_at !== null)
    throw inTranscript(`Its content is in the entry ent_${id.slice(4)}: remove that one.`);
  if (!takenIn) return;
  throw inTranscript(
    takenIn.started_at === null
      ? `Its content was merged into the prompt ${takenIn.id}: remove that one.`
      : `Its content went into the turn of ${takenIn.id}: remove that turn's prompt, or the question that it answers.`,
  );
}

function inTranscript(words: string): Refusal {
  return new Refusal("conflict", "prompt_in_transcript", `${words} This prompt goes with it.`);
}
