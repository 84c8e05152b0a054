/** The first start after `muster restore`: records in the audit trail that it was one. */
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
    work.tell({
      orgId,
      by: "system",
      area: "database",
      action: "restored",
      subjectId: note.id,
      detail: `row_${note.seq}`,
    }),
  );
  // Last: after a crash it is done again, which costs a second entry in the trail.
  rmSync(file);
}
