import { setTimeout as sleep } from "node:timers/promises";

/** Retries until it succeeds; throws the last error when the time is over. */
export async function waitUntil(attempt: () => Promise<void>, withinMs: number): Promise<void> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(50);
  }
}
