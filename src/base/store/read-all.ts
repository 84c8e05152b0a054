import type { Reader } from "./store.ts";

export type LateRead = (reader: Reader) => Promise<void>;

/** What is read after a commit cannot undo it: one that fails is reported, and the others are read. */
export async function readAll(reader: Reader, reads: readonly LateRead[]): Promise<void> {
  for (const read of reads) {
    try {
      await read(reader);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}
