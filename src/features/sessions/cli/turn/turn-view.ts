import type { Delta, SessionEvent } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";

/** Where a turn is shown while it goes on. */
export interface TurnView {
  event(event: SessionEvent): void;
  delta(delta: Delta): void;
  note(text: string): void;
  end(prompt: Prompt): void;
}
