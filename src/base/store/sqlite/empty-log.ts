/**
 * Empties the write-ahead log of SQLite. Deleted rows are written over in the database, but the log
 * still has pages as they were before.
 */
import type Database from "better-sqlite3";
import type { Clock } from "../../clock.ts";

/** How long another program that reads the file is waited for. */
const LIMIT_MS = 2_000;
const RETRY_MS = 20;

export async function emptyLog(
  writer: Database.Database,
  clock: Clock,
  isClosing: () => boolean,
): Promise<void> {
  const limit = clock.now() + LIMIT_MS;
  while (!isClosing()) {
    const [result] = writer.inTransaction
      ? []
      : (writer.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[]);
    if (result?.busy === 0 || clock.now() >= limit) return;
    await clock.sleep(RETRY_MS);
  }
}
