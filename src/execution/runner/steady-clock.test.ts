import { expect, it } from "vitest";
import { createSteadyClock } from "./steady-clock.ts";

it("counts every millisecond once and never goes back", async () => {
  const clock = createSteadyClock();
  const other = createSteadyClock();
  const startedAt = clock.now();
  const reallyAt = performance.now();
  await clock.sleep(30);
  const elapsedMs = clock.now() - startedAt;
  expect(Math.abs(elapsedMs - (performance.now() - reallyAt))).toBeLessThan(5);
  expect(Math.abs(other.now() - clock.now())).toBeLessThan(5);
});
