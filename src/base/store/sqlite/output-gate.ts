/**
 * The output gate: SQLite commits without waiting for the disk (`synchronous=NORMAL`), and nothing
 * leaves the process until an `fdatasync` of the write-ahead log that began after the commit has
 * returned. Commands that commit during one sync share the next one, and the event loop never waits
 * for the disk.
 *
 * A failed sync ends the process: nobody knows what is on the disk then, and any further answer
 * could be false.
 */
export interface OutputGate {
  /** Must be called right after each commit. */
  committed(): void;
  /** Resolves when everything committed so far is on the disk; undefined if it already is. */
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
      // Waiters stay pending on purpose: their results must not leave the process.
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

/** The gate of a database without a file. */
export const openGate: OutputGate = {
  committed: () => {},
  covered: () => undefined,
  close: async () => {},
};
