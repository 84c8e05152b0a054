/** How agents and the platform itself speak inside a tree: the one form of their prompts. */
import type { PromptRow, SessionRow, SessionWriter, Work } from "#engine/index.ts";
import { admitPrompt, type NewPrompt } from "#engine/sessions/index.ts";

/** The channel of what tells parents. */
export const WAKE_CHANNEL = "wake";

type Words = Pick<NewPrompt, "content" | "thread" | "mode">;

/** A parent to its child. */
export function sayAsAgent(
  work: Work,
  from: SessionRow,
  to: SessionWriter,
  words: Words,
): Promise<PromptRow> {
  const { id, title } = from;
  return admit(work, to, {
    ...words,
    id: work.ids.mint("pmt"),
    author: { kind: "session", id, name: title ?? id },
    origin: { channelType: "session", channelId: id, scopeKey: null, replyRef: null },
    createdBy: `session:${id}`,
    causeKey: null,
  });
}

/** `id`: of the prompt, just minted for it. */
export function sayAsPlatform(
  work: Work,
  to: SessionWriter,
  id: string,
  words: Omit<Words, "mode">,
): Promise<PromptRow> {
  return admit(work, to, {
    ...words,
    id,
    mode: "followup",
    author: { kind: "system", id: "orchestration", name: "Muster" },
    origin: { channelType: WAKE_CHANNEL, channelId: null, scopeKey: null, replyRef: null },
    createdBy: "system",
    causeKey: `wake:${id}`,
    isNew: true,
  });
}

async function admit(
  work: Work,
  to: SessionWriter,
  said: Omit<NewPrompt, "runId" | "dispatchId" | "attachments" | "runOptions">,
): Promise<PromptRow> {
  const rest = { dispatchId: null, attachments: [], runOptions: null };
  const { prompt } = await admitPrompt(work, to, {
    ...said,
    ...rest,
    runId: work.ids.mint("run"),
  });
  return prompt;
}
