/** Facts that kernel events carry, and answers that listeners give to them. */
import type { Refusal } from "#base/refusal.ts";
import type { SessionRow } from "./schema.ts";

/** Fate of the children of a session that is archived. */
export type ChildrenFate = "end" | "detach";

export interface ResultAnswer {
  /** The result of the run: as its runtime gave it, until a listener knows better. */
  result: string | null;
}

export interface CallbackAnswer {
  /** The parent was told, or will be. */
  isTaken: boolean;
}

export interface WakeAnswer {
  /** Why it must not wake now. */
  refusal: Refusal | null;
}

/**
 * A change to something that people have set up: who made it and what it was, in ids and in words
 * from the code. The type has no field for typed text, and none may be put in these.
 */
export interface SettingChange {
  orgId: string;
  /** A principal's key; null: nobody who is known. */
  by: string | null;
  /** Kind of thing, such as `api_key`. */
  area: string;
  /** Action on it, such as `revoked`. */
  action: string;
  subjectId: string | null;
  /** The session it happened in, if it was in one. */
  session?: Pick<SessionRow, "id" | "owner_id">;
  /** One more word of the code that says which of several. */
  detail?: string;
}

/** Fields of a new session that somebody asked for; the rest was taken from its parent or the defaults. */
export interface Asked {
  runtime: boolean;
  model: boolean;
  /** By a person. What an agent chose for its child is a choice, and gives way to more. */
  persona: boolean;
  memory: boolean;
  /** Set by the feature that gives a session its persona: who or what chose it. */
  personaSource?: string;
  /** Its parent was named only to be told of the end of its run. */
  callback: boolean;
}
