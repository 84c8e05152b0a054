/**
 * Truncates SQLite's write-ahead log. Deleted rows are overwritten in the database, but the log
 * still has the old pages.
 */
import type Database from "better-sqlite3";
import type { Clock } from "../../clock.ts";

/** Time to wait for another program that reads the file. */
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
