/** Facts that kernel events carry, and answers that listeners give to them. */
import type { Refusal } from "#base/refusal.ts";
import type { SessionRow } from "./schema.ts";

/** Fate of the children of a session that is archived. */
export type ChildrenFate = "end" | "detach";

export interface ResultAnswer {
  /** Result of the run: from its runtime, until a listener replaces it. */
  result: string | null;
}

export interface CallbackAnswer {
  /** True when the parent was notified, or will be. */
  isTaken: boolean;
}

export interface WakeAnswer {
  /** Reason why the session must not wake now. */
  refusal: Refusal | null;
}

/**
 * A change to something that people have set up: who made it and what it was, in ids and in words
 * from the code. The type has no field for typed text, and none may be put in these.
 */
export interface SettingChange {
  orgId: string;
  /** Key of the principal; null when nobody is known. */
  by: string | null;
  /** Kind of thing, such as `api_key`. */
  area: string;
  /** Action on it, such as `revoked`. */
  action: string;
  subjectId: string | null;
  /** Session of the change, if it was made in one. */
  session?: Pick<SessionRow, "id" | "owner_id">;
  /** Further word of the code that tells several cases apart. */
  detail?: string;
}

/** Requested fields of a new session that features keep. The kernel passes them on and reads none. */
export interface KeptFields {
  personaSlug?: string | undefined;
  enableMemory?: boolean | undefined;
  requirePlanApproval?: boolean | undefined;
}

/** Fields of a new session that somebody asked for; the others come from its parent or the defaults. */
export interface RequestedFields extends KeptFields {
  runtime: boolean;
  model: boolean;
  /**
   * True when a person chose the persona. An agent's choice for its child gives way to other
   * settings.
   */
  persona: boolean;
  /** Persona of the new session and its source, set by the feature that chooses it. */
  chosenPersona?: { slug: string; source: string };
  /** True when the parent was named only to be notified of the end of the run. */
  callback: boolean;
}
