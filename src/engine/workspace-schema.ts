/** Tables of what turns did to workspaces; part of the kernel's schema. */

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
