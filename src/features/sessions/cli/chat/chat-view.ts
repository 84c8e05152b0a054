/** View of a conversation: a terminal, plain text, or JSON lines. */
import type { Delta, SessionEvent } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";

export interface ChatView {
  /** Starts the view of another session. */
  begin(): void;
  /** Shows every event of the log as it comes, for programs. */
  raw?(event: SessionEvent): void;
  event(event: SessionEvent): void;
  delta(delta: Delta): void;
  /** Shows a prompt whose turn has begun; `who` is null for the person's own. */
  prompt(who: string | null, text: string): void;
  /** Shows the outcome of a turn. */
  end(prompt: Prompt): void;
  /** Shows a remark about the conversation, which is not part of it. */
  note(text: string): void;
  /** Shows requested or important lines, already without terminal control characters. */
  print(lines: readonly string[]): void;
  /** Rows of the window, if there is one: longer texts are shown page by page. */
  pageRows?(): number;
  /** Redraws the footer. */
  changed(): void;
}
