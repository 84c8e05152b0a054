/** Tables of workspaces and of what turns did to them; part of the kernel's schema. */

export interface WorkspaceRow {
  id: string;
  org_id: string;
  session_id: string;
  runner_id: string;
  bytes: number;
  /** Changes since its beginning, as JSON. */
  changes: string | null;
  /** When it was told that its machine has been gone for long; null while it is here. */
  offline_at: number | null;
  /**
   * When the session was sent elsewhere: this workspace counts no more, and what was recorded of it
   * goes into the next one. Null while it is the session's.
   */
  left_at: number | null;
  updated_at: number;
  created_at: number;
}

/** Changes that one turn made in a workspace. */
export interface TurnChangesRow {
  session_id: string;
  prompt_id: string;
  org_id: string;
  changes: string;
  created_at: number;
}

/** A file of a workspace that can be shown: its content is a blob. */
export interface WorkspaceFileRow {
  session_id: string;
  path: string;
  org_id: string;
  sha256: string;
  media_type: string;
  size: number;
  updated_at: number;
}
