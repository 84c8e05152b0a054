/**
 * The output gate: SQLite commits without waiting for the disk (`synchronous=NORMAL`), and nothing
 * leaves the process until an `fdatasync` of the write-ahead log that began after the commit has
 * returned. Commands that commit while one sync is under way share the next one, and the event
 * loop never waits for the disk.
 *
 * A sync that fails ends the process: after it nobody can say what is on the disk, and continuing
 * would mean lying about it.
 */
export interface OutputGate {
  /** Call right after each commit. */
  committed(): void;
  /** Resolves when everything committed so far is on the disk; undefined when it already is. */
  covered(): Promise<void> | undefined;
  close(): Promise<void>;
}

interface Waiter {
  upTo: number;
  release: () => void;
}

export function createOutputGate(
  sync: () => Promise<void>,
  onFailure: (error: unknown) => void,
): OutputGate {
  let commits = 0;
  let synced = 0;
  let pumping: Promise<void> | undefined;
  let waiters: Waiter[] = [];

  async function pump(): Promise<void> {
    while (waiters.length > 0) {
      const target = commits;
      await sync();
      synced = target;
      const due = waiters.filter((waiter) => waiter.upTo <= target);
      waiters = waiters.filter((waiter) => waiter.upTo > target);
      for (const waiter of due) waiter.release();
    }
  }

  function start(): void {
    pumping ??= pump().then(
      () => {
        pumping = undefined;
        if (waiters.length > 0) start();
      },
      // Waiters are left waiting on purpose: what they hold must not leave.
      (error: unknown) => onFailure(error),
    );
  }

  return {
    committed() {
      commits++;
    },
    covered() {
      if (synced >= commits) return undefined;
      return new Promise((release) => {
        waiters.push({ upTo: commits, release });
        start();
      });
    },
    async close() {
      while (pumping !== undefined) await pumping;
    },
  };
}

/** For databases without a file. */
export const openGate: OutputGate = {
  committed: () => {},
  covered: () => undefined,
  close: async () => {},
};
