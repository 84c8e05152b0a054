/**
 * A file beside the SQLite database that reserves space on the disk. When the disk is full the file
 * is deleted, so that running work can be stored and settled while somebody makes room; it is
 * created again when there is enough space. While the reserve is missing or little else is free,
 * the server reports that it is not ready.
 */
import { randomFillSync } from "node:crypto";
import { rmSync, statfsSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { Refusal } from "../../refusal.ts";

export interface DiskReserveOptions {
  path: string;
  bytes: number;
  /** Reads the free bytes of the disk. */
  readFree?: (path: string) => number;
}

const CHUNK_BYTES = 1024 ** 2;
/** Space needed to open a database: a lock file, the index of its log and perhaps migrations. */
const OPENING_BYTES = 4 * CHUNK_BYTES;
/** Besides the reserve, as much space again must be free. */
const ROOM_TIMES = 2;

export class DiskReserve {
  readonly #options: DiskReserveOptions;
  #making: Promise<void> | undefined;
  #isReleased = false;

  constructor(options: DiskReserveOptions) {
    this.#options = options;
  }

  /** Deletes the reserve; false if there was none. Synchronous, because a write waits for it. */
  release(): boolean {
    const hadAny = this.#heldBytes() > 0;
    this.#isReleased = true;
    rmSync(this.#options.path, { force: true });
    return hadAny;
  }

  /** Deletes the reserve if a store could not even be opened otherwise. */
  releaseIfFull(): void {
    const { path, readFree = freeBytesAt } = this.#options;
    if (readFree(path) < OPENING_BYTES) this.release();
  }

  /** Refuses while less than twice the reserve is free, the reserve included. */
  require(): void {
    if (!this.#isLow()) return;
    throw new Refusal(
      "unavailable",
      "disk_low",
      "The server's disk is almost full. Free some space; everything then continues by itself.",
      { retryAfterMs: 5_000 },
    );
  }

  /** Creates the reserve if it is missing and there is room for it. */
  async tend(): Promise<void> {
    const { bytes } = this.#options;
    if (this.#isLow() || this.#heldBytes() >= bytes) return;
    this.#making ??= this.#make().finally(() => {
      this.#making = undefined;
    });
    await this.#making;
  }

  #isLow(): boolean {
    const { path, bytes, readFree = freeBytesAt } = this.#options;
    return readFree(path) + this.#heldBytes() < bytes * ROOM_TIMES;
  }

  #heldBytes(): number {
    return statSync(this.#options.path, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** Random bytes, because a file system may store zeros without using space. */
  async #make(): Promise<void> {
    const { path, bytes } = this.#options;
    const chunk = randomFillSync(Buffer.allocUnsafe(CHUNK_BYTES));
    this.#isReleased = false;
    const file = await open(path, "w", 0o600);
    try {
      // After a release, further writes to the open file would take the space that a transaction
      // waits for.
      for (let left = bytes; left > 0 && !this.#isReleased; left -= CHUNK_BYTES)
        await file.write(chunk, 0, Math.min(left, CHUNK_BYTES));
    } catch (error) {
      // The disk was full before the reserve was complete; half a reserve is useless.
      this.release();
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      await file.close();
    }
  }
}

function freeBytesAt(path: string): number {
  const { bavail, bsize } = statfsSync(path.slice(0, path.lastIndexOf("/")) || "/");
  return bavail * bsize;
}
