/** Admission of notices: the prompt gets the rendered text for the model and the notice for programs. */
import type { Notice } from "#protocol/notices/notices.ts";
import type { PromptRow } from "../schema.ts";
import { admitSystemPrompt, type NewPrompt } from "../sessions/prompts/admit-prompt.ts";
import { editPrompt } from "../sessions/prompts/change-queue.ts";
import type { SessionWriter, Work } from "../work.ts";
import { shortenNotice } from "./shorten-notice.ts";

/** Author of the prompt, and its queue mode. */
export type NoticeSender = Pick<NewPrompt, "author" | "origin" | "createdBy" | "mode">;

/** The platform as sender. `channel` names the kind of notice, `replyRef` its subject. */
export function platformSender(
  authorId: string,
  channel: string,
  replyRef: string | null = null,
): NoticeSender {
  return {
    author: { kind: "system", id: authorId, name: "Muster" },
    origin: { channelType: channel, channelId: null, scopeKey: null, replyRef },
    createdBy: "system",
    mode: "followup",
  };
}

export interface NewNotice {
  thread: string;
  notice: Notice;
  sender: NoticeSender;
  /** One notice per cause; undefined when the cause arose in this very command. */
  causeKey?: string;
  /** Id of the prompt, minted by the caller just before. */
  id?: string;
}

/** Admits a notice into a locked session, awake or not. */
export async function admitNotice(
  work: Work,
  session: SessionWriter,
  { thread, notice, sender, causeKey, id = work.ids.mint("pmt") }: NewNotice,
): Promise<PromptRow> {
  const { prompt } = await admitSystemPrompt(work, session, {
    ...sender,
    id,
    runId: work.ids.mint("run"),
    content: work.renderNotice(notice, session.row),
    notice: shortenNotice(notice),
    isGuest: notice.kind === "messages" && notice.isGuest,
    thread,
    dispatchId: null,
    causeKey: causeKey ?? `${sender.origin.channelType}:${id}`,
    isNew: causeKey === undefined,
    attachments: [],
    runOptions: null,
  });
  return prompt;
}

/** Rewrites a waiting prompt, unless it has the same text already. */
export async function editNotice(
  work: Work,
  session: SessionWriter,
  prompt: PromptRow,
  notice: Notice,
): Promise<void> {
  const content = work.renderNotice(notice, session.row);
  if (content === prompt.content && prompt.notice !== null) return;
  await editPrompt(work, session, prompt, content, shortenNotice(notice));
}
