/** Records the first start after `muster restore` in the audit trail. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { restoreNoteFile } from "#base/machine/home-files.ts";
import { command, type Engine } from "#engine/index.ts";
import { type Audit, restoredTrailSchema } from "#features/audit/index.ts";

export async function settleRestore(
  engine: Engine,
  audit: Audit,
  home: string,
  orgId: string,
): Promise<void> {
  const file = restoreNoteFile(home);
  if (!existsSync(file)) return;
  const note = restoredTrailSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  await audit.noteRestore(engine, note);
  await command(engine, (work) =>
    work.reportChange({
      orgId,
      by: "system",
      area: "database",
      action: "restored",
      subjectId: note.id,
      detail: `row_${note.seq}`,
    }),
  );
  // Removed last: after a crash this runs again, which costs a second entry in the trail.
  rmSync(file);
}
