/**
 * `async_callback`: when a run ends, the parent of its session is notified of the result once, in
 * the transaction that settles the run. A feature that keeps an inbox for parents delivers it
 * there; without one, the kernel prompts the parent itself.
 */
import { quoteLines } from "#base/text/clean-text.ts";
import { admitNotice } from "#engine/notices/admit-notice.ts";
import { parseRunOptions } from "#engine/runs/run-options.ts";
import type { KernelEvent, Work } from "#engine/work.ts";
import type { NoticeOf } from "#protocol/notices/notices.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";

const MAX_RESULT_CHARS = 16_000;

export async function promptParentWhenDone(work: Work, event: KernelEvent): Promise<void> {
  if (event.type !== "prompt_settled") return;
  const { session, prompt, run } = event;
  // Includes a run that never began: its caller has the id and waits for the callback.
  if (parseRunOptions(prompt.run_options).executionMode !== "async_callback") return;
  const answer = { isTaken: false };
  await work.emit({ type: "callback_due", session, prompt, run, answer });
  if (answer.isTaken) return;
  const parentId = session.row.parent_session_id;
  const parent = parentId === null ? undefined : await work.session(parentId);
  if (!parent || parent.row.lifecycle === "terminated") {
    session.record({
      type: "notice",
      thread: prompt.thread,
      promptId: prompt.id,
      entryId: work.ids.mint("ent"),
      kind: "notice",
      role: "system",
      content: [
        {
          type: "text",
          text: "This run was to notify its parent session, but there is none.",
        },
      ],
      reason: "callback_undeliverable",
    });
    return;
  }
  const { id: childId, title } = session.row;
  const childName = title ?? childId;
  await admitNotice(work, parent, {
    thread: MAIN_THREAD,
    notice: {
      kind: "callback",
      childId,
      childName,
      runId: prompt.run_id,
      outcome: prompt.outcome ?? "",
      text: run?.result ?? prompt.error_message ?? "(no text)",
    },
    sender: {
      author: { kind: "system", id: childId, name: childName },
      origin: {
        channelType: "session",
        channelId: childId,
        scopeKey: null,
        replyRef: prompt.run_id,
      },
      createdBy: `session:${childId}`,
      mode: "followup",
    },
    causeKey: `callback:${prompt.run_id}`,
  });
}

export function callbackText(notice: NoticeOf<"callback">): string {
  const { childId, childName, outcome, text } = notice;
  const shown =
    text.length <= MAX_RESULT_CHARS
      ? text
      : `${text.slice(0, MAX_RESULT_CHARS)}\n[cut: read the rest in session ${childId}]`;
  return `Session ${JSON.stringify(childName)} (${childId}) ended its run: ${outcome}.\n\n${quoteLines(shown)}`;
}
