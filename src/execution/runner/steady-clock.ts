/**
 * The runner's clock: it never goes back, is not moved when somebody sets the time, and (on Linux)
 * also counts the time a machine was asleep, because the server's leases went on meanwhile.
 */
import { uptime } from "node:os";
import { type Clock, systemClock } from "#base/clock.ts";

/** A smaller difference is the coarseness of the uptime, not sleep. */
const SLEEP_NOTICED_MS = 1000;
const RECHECK_MS = 100;

export function createSteadyClock(): Clock {
  if (process.platform !== "linux")
    return { now: () => performance.now(), sleep: systemClock.sleep };
  const offsetMs = uptime() * 1000 - performance.now();
  let asleepMs = 0;
  let checkedAt = Number.NEGATIVE_INFINITY;
  let wallOffsetMs = 0;
  return {
    now() {
      const awakeMs = performance.now();
      const wallMs = Date.now() - awakeMs;
      // Reading the uptime reads a file, so it is done now and then, and whenever the wall clock
      // has moved.
      if (
        awakeMs - checkedAt > RECHECK_MS ||
        Math.abs(wallMs - wallOffsetMs) > SLEEP_NOTICED_MS / 2
      ) {
        checkedAt = awakeMs;
        wallOffsetMs = wallMs;
        const missedMs = uptime() * 1000 - awakeMs - offsetMs;
        if (missedMs > asleepMs + SLEEP_NOTICED_MS) asleepMs = missedMs;
      }
      return awakeMs + asleepMs;
    },
    sleep: systemClock.sleep,
  };
}
