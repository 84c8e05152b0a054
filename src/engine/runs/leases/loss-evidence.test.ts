import { expect, it } from "vitest";
import { LossEvidence } from "./loss-evidence.ts";

const attempt = { run: "run_1", fence: 3 };

it("clears an attempt that was never accepted, until something is heard of it", () => {
  const evidence = new LossEvidence();
  evidence.sent(attempt);
  expect(evidence.clears(attempt, null)).toBe(true);
  expect(evidence.clears({ ...attempt, fence: 4 }, null)).toBe(false);
  evidence.accepted(attempt);
  expect(evidence.clears(attempt, null)).toBe(false);
});

it("remembers the newest silent runners, and no more than it needs", () => {
  const evidence = new LossEvidence();
  for (let n = 0; n <= 1_000; n++) evidence.fellSilent(`boot_${n}`);
  expect(evidence.clears(attempt, "boot_0")).toBe(false);
  expect(evidence.clears(attempt, "boot_1")).toBe(true);
  evidence.cameBack("boot_1");
  expect(evidence.clears(attempt, "boot_1")).toBe(false);
});
