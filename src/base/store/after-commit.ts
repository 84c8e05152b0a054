/**
 * Work after a commit: announcements and late reads. Neither can undo the commit, so one that fails is
 * reported as a warning and the others still run.
 */
import type { Reader } from "./store.ts";

export type LateRead = (reader: Reader) => Promise<void>;

export async function readAll(reader: Reader, reads: readonly LateRead[]): Promise<void> {
  for (const read of reads) {
    try {
      await read(reader);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}

export function announceAll(announcements: readonly (() => void)[]): void {
  for (const announce of announcements) {
    try {
      announce();
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}
