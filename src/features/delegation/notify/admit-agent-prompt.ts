/** Admits a prompt to a child in the name of its parent. */
import type { PromptRow, SessionRow, SessionWriter, Work } from "#engine/index.ts";
import { admitPrompt, type NewPrompt } from "#engine/sessions/index.ts";

export async function admitAgentPrompt(
  work: Work,
  from: SessionRow,
  to: SessionWriter,
  words: Pick<NewPrompt, "content" | "thread" | "mode">,
): Promise<PromptRow> {
  const { id, title } = from;
  const { prompt } = await admitPrompt(work, to, {
    ...words,
    id: work.ids.mint("pmt"),
    runId: work.ids.mint("run"),
    author: { kind: "session", id, name: title ?? id },
    origin: { channelType: "session", channelId: id, scopeKey: null, replyRef: null },
    createdBy: `session:${id}`,
    causeKey: null,
    dispatchId: null,
    attachments: [],
    runOptions: null,
  });
  return prompt;
}
