/** Runs one task after the other, whether or not the last one failed. */
function createQueue() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
}

/** A queue with work that can be put off: it is aborted as soon as other work is requested. */
export function createYieldingQueue() {
  const queue = createQueue();
  let yielding: AbortController | undefined;
  return {
    inTurn<T>(work: () => Promise<T>): Promise<T> {
      yielding?.abort();
      return queue(work);
    },
    async whenFree(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
      const own = new AbortController();
      yielding = own;
      await queue(async () => {
        if (!own.signal.aborted) await work(own.signal);
      }).finally(() => {
        if (yielding === own) yielding = undefined;
      });
    },
  };
}

/**
 * One queue for each name: tasks of one name run one after the other, whether or not the last one
 * failed; those of other names run on. A task that is stopped while waiting leaves the queue at
 * once. A task that has begun is waited for, because its work must be over when its promise
 * settles.
 */
export type NamedQueues = <T>(
  name: string,
  work: () => Promise<T>,
  stop: { signal: AbortSignal; error: () => Error },
) => Promise<T>;

export function createNamedQueues(): NamedQueues {
  const lasts = new Map<string, Promise<void>>();
  return (name, work, { signal, error }) =>
    new Promise((resolve, reject) => {
      const leave = () => reject(error());
      if (signal.aborted) return leave();
      signal.addEventListener("abort", leave, { once: true });
      const before = lasts.get(name) ?? Promise.resolve();
      const result = before.then(() => {
        signal.removeEventListener("abort", leave);
        if (signal.aborted) throw error();
        return work();
      });
      result.then(resolve, reject);
      const over = result.then(
        () => {},
        () => {},
      );
      lasts.set(name, over);
      void over.then(() => {
        if (lasts.get(name) === over) lasts.delete(name);
      });
    });
}
