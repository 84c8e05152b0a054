/** Coalesces refreshes: hints come in bursts. */
import { isPassing } from "#surfaces/cli/client/api.ts";
import { ServerRefusal } from "#surfaces/cli/client/server-refusal.ts";

/**
 * The returned function resolves when a refresh that began after its call has ended. A refresh that fails
 * while the server is away is repeated by the caller that is notified of its return.
 */
export function createRefresh(look: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const once = async () => {
    try {
      await look();
    } catch (error) {
      // A session that is gone or forbidden is simply not shown.
      if (!isPassing(error) && !(error instanceof ServerRefusal)) throw error;
    }
  };
  return () => {
    if (!running) {
      running = once().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running
      .catch(() => {})
      .then(() => {
        next = undefined;
        running = once().finally(() => {
          running = undefined;
        });
        return running;
      });
    return next;
  };
}
