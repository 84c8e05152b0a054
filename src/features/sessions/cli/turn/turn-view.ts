import type { Delta, SessionEvent } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";

/** View of a running turn. */
export interface TurnView {
  event(event: SessionEvent): void;
  delta(delta: Delta): void;
  note(text: string): void;
  end(prompt: Prompt): void;
}
