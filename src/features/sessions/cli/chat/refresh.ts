/** Looking again, without looking twice at once: hints come in crowds. */
import { isPassing } from "#surfaces/cli/client/api.ts";
import { ServerRefusal } from "#surfaces/cli/client/server-refusal.ts";

/**
 * The returned function resolves when a look that began after its call has ended. A look that fails
 * because the server is away is made up for when it is back, by whoever is told so.
 */
export function createRefresh(look: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  const once = async () => {
    try {
      await look();
    } catch (error) {
      // What is gone, or not for these eyes, is simply not seen.
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
