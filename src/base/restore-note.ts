/** A note that `muster restore` leaves for the server, outside the database it restored. */
import { join } from "node:path";

export function restoreNoteFile(home: string): string {
  return join(home, "restored.json");
}
