/**
 * A file beside the SQLite database that holds space on the disk. When the disk is full it is given
 * up, so that what runs can be stored and settled while somebody makes room; it is made again when
 * there is enough. While it is missing or little is free besides, the server says that it is not ready.
 */
import { randomFillSync } from "node:crypto";
import { rmSync, statfsSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { Refusal } from "../../refusal.ts";

export interface DiskReserveOptions {
  path: string;
  bytes: number;
  /** Free bytes of the disk. */
  readFree?: (path: string) => number;
}

const CHUNK_BYTES = 1024 ** 2;
/** Opening a database takes a lock file, the index of its log and perhaps migrations. */
const OPENING_BYTES = 4 * CHUNK_BYTES;
/** Besides the reserve, as much again must be free. */
const ROOM_TIMES = 2;

export class DiskReserve {
  readonly #options: DiskReserveOptions;
  #making: Promise<void> | undefined;
  #isReleased = false;

  constructor(options: DiskReserveOptions) {
    this.#options = options;
  }

  /** Gives the reserve up; false when there is none. Synchronous, because a write waits for it. */
  release(): boolean {
    const hadAny = this.#heldBytes() > 0;
    this.#isReleased = true;
    rmSync(this.#options.path, { force: true });
    return hadAny;
  }

  /** Gives the reserve up when a store could not even be opened without it. */
  releaseIfFull(): void {
    const { path, readFree = freeBytesAt } = this.#options;
    if (readFree(path) < OPENING_BYTES) this.release();
  }

  /** Refuses while less is free, the reserve included, than twice its size. */
  require(): void {
    if (!this.#isLow()) return;
    throw new Refusal(
      "unavailable",
      "disk_low",
      "The server's disk is almost full. Make room on it; everything goes on by itself then.",
      { retryAfterMs: 5_000 },
    );
  }

  /** Makes the reserve where it is missing and there is room for it. */
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

  /** Noise, because a file system may store zeros without taking up space for them. */
  async #make(): Promise<void> {
    const { path, bytes } = this.#options;
    const chunk = randomFillSync(Buffer.allocUnsafe(CHUNK_BYTES));
    this.#isReleased = false;
    const file = await open(path, "w", 0o600);
    try {
      // Given up meanwhile: what is written on through the open file takes the room that a write waits for.
      for (let left = bytes; left > 0 && !this.#isReleased; left -= CHUNK_BYTES)
        await file.write(chunk, 0, Math.min(left, CHUNK_BYTES));
    } catch (error) {
      // Full before it was whole: half a reserve helps nobody.
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
