/** Files of the data folder that both the server and the command line know. */
import { join } from "node:path";

/** The end of the audit trail as the server last saw it. */
export function auditHeadFile(home: string): string {
  return join(home, "audit.head");
}

/** A note that `muster restore` leaves for the server, outside the database it restored. */
export function restoreNoteFile(home: string): string {
  return join(home, "restored.json");
}
