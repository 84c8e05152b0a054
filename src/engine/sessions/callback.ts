/**
 * `async_callback`: when a run ends, the parent of its session is told what came of it, in the
 * transaction that settles the run, once. A feature that keeps an inbox for parents tells it there;
 * without one, the kernel prompts the parent itself.
 */
import { quoteLines } from "#base/text/clean-text.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import { parseRunOptions } from "../runs/run-options.ts";
import type { KernelEvent, Work } from "../work.ts";
import { admitPrompt } from "./admit-prompt.ts";

const MAX_RESULT_CHARS = 16_000;

export async function promptParentWhenDone(work: Work, event: KernelEvent): Promise<void> {
  if (event.type !== "prompt_settled") return;
  const { session, prompt, run } = event;
  // Also of a run that never began: whoever asked for it has its id and waits to hear of it.
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
          text: "This run was to report to its parent session, but there is none to report to.",
        },
      ],
      reason: "callback_undeliverable",
    });
    return;
  }
  await admitPrompt(work, parent, {
    id: work.ids.mint("pmt"),
    runId: work.ids.mint("run"),
    content: callbackText(
      session.row.title ?? session.row.id,
      session.row.id,
      prompt.outcome ?? "",
      run?.result ?? null,
      prompt.error_message,
    ),
    thread: MAIN_THREAD,
    mode: "followup",
    author: { kind: "system", id: session.row.id, name: session.row.title ?? session.row.id },
    origin: {
      channelType: "session",
      channelId: session.row.id,
      scopeKey: null,
      replyRef: prompt.run_id,
    },
    createdBy: `session:${session.row.id}`,
    dispatchId: null,
    causeKey: `callback:${prompt.run_id}`,
    attachments: [],
    runOptions: null,
  });
}

function callbackText(
  title: string,
  sessionId: string,
  outcome: string,
  result: string | null,
  error: string | null,
): string {
  const body = result ?? error ?? "(no text)";
  const shown =
    body.length <= MAX_RESULT_CHARS
      ? body
      : `${body.slice(0, MAX_RESULT_CHARS)}\n[cut: read the rest in session ${sessionId}]`;
  return `Session ${JSON.stringify(title)} (${sessionId}) ended its run: ${outcome}.\n\n${quoteLines(shown)}`;
}
