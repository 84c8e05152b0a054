/** Files of the data folder that both the server and the command line use. */
import { join } from "node:path";

/** Holds the end of the audit trail as the server last saw it. */
export function auditHeadFile(home: string): string {
  return join(home, "audit.head");
}

/** Holds a note from `muster restore` to the server, outside of the restored database. */
export function restoreNoteFile(home: string): string {
  return join(home, "restored.json");
}
