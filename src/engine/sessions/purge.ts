/** Archived sessions are kept for a week, then they are gone with everything that hangs on them. */
import type { Engine } from "../work.ts";
import { listPurgeable, purgeSession } from "./queries.ts";

export const ARCHIVE_KEPT_MS = 7 * 24 * 60 * 60_000;
const BATCH = 20;

/** `tables`: of features, whose rows hang on a session. */
export async function purgeArchived(
  engine: Engine,
  now: number,
  tables: readonly string[],
): Promise<number> {
  const due = await engine.store.read((reader) =>
    listPurgeable(reader, now - ARCHIVE_KEPT_MS, BATCH),
  );
  for (const id of due)
    await engine.store.transaction((tx) => purgeSession(tx, id, now - ARCHIVE_KEPT_MS, tables));
  return due.length;
}
