/** Tables of workspaces and of their changes by turn; part of the kernel's schema. */

export interface WorkspaceRow {
  id: string;
  org_id: string;
  session_id: string;
  runner_id: string;
  bytes: number;
  /** Changes since the workspace was made, as JSON. */
  changes: string | null;
  /** Time when the machine was reported as long gone; null while it is connected. */
  offline_at: number | null;
  /**
   * Time when the session was moved elsewhere: this workspace no longer counts, and its recorded
   * changes go into the next one. Null while it is the session's.
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
