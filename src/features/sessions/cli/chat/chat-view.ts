/** Where a conversation is shown: a terminal, plain text, or JSON lines. */
import type { Delta, SessionEvent } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";

export interface ChatView {
  /** Another session is talked with from here on. */
  begin(): void;
  /** Every event of the log as it comes, for programs. */
  raw?(event: SessionEvent): void;
  event(event: SessionEvent): void;
  delta(delta: Delta): void;
  /** A prompt that has begun; `who` is null for one's own. */
  prompt(who: string | null, text: string): void;
  /** How a turn ended. */
  end(prompt: Prompt): void;
  /** About the conversation, not part of it. */
  note(text: string): void;
  /** What was asked for, or must be seen. Already without anything that could command a terminal. */
  print(lines: readonly string[]): void;
  /** How many rows fit into the window, if there is one: longer things are shown page by page. */
  pageRows?(): number;
  /** Something that stands at the foot has changed. */
  changed(): void;
}
