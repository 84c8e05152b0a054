/** Table of prompts. */
import type { Outcome, PromptState, QueueMode, TurnWait } from "#protocol/sessions.ts";

export interface PromptRow {
  id: string;
  org_id: string;
  owner_id: string | null;
  created_by: string;
  session_id: string;
  thread: string;
  author_kind: "user" | "session" | "channel" | "system";
  author_id: string;
  author_name: string;
  origin: string;
  mode: QueueMode;
  readonly state: PromptState;
  readonly outcome: Outcome | null;
  /** Rank 0 goes before 1; within a rank, by position. */
  rank: number;
  position: number;
  /** Text for the model; for a notice, its rendering. */
  content: string;
  /** Notice that the platform delivers by this prompt, as JSON, texts shortened; null for none. */
  notice: string | null;
  /** 1: a guest's words began the prompt, so its turn has a guest's rights. */
  is_guest: number;
  attachments: string;
  content_hash: string;
  dispatch_id: string | null;
  cause_key: string | null;
  run_id: string;
  run_options: string | null;
  attempts: number;
  superseded_by: string | null;
  merged_into: string | null;
  error_code: string | null;
  error_message: string | null;
  accepted_at: number;
  queued_at: number | null;
  started_at: number | null;
  settled_at: number | null;
  /** Set when the turn announced that it waits; holds once the turn has completed. */
  ended_waiting_for: TurnWait | null;
}
