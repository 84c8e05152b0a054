import { expect, it } from "vitest";
import { type Status, statusLine } from "./status-line.ts";

const STATUS: Status = {
  name: "Ada",
  state: "needs_you",
  model: "anthropic/claude",
  working: 2,
  waiting: 1,
  cost: 123_400,
  queued: 1,
  asks: 1,
  isAway: false,
};

it("shows everything where there is room, and the essentials where there is not", () => {
  expect(statusLine(STATUS, 200)).toBe(
    "Ada · needs you · 1 to answer · children: 2 working, 1 waiting · 1 queued · $0.1234 · anthropic/claude",
  );
  expect(statusLine(STATUS, 80)).toBe(
    "needs you · 1 to answer · children: 2 working, 1 waiting · 1 queued · $0.1234",
  );
  expect(statusLine(STATUS, 24)).toBe("needs you · 1 to answer");
  expect(statusLine(STATUS, 5)).toBe("need…");
});

it("leaves out what is not so, and calls nothing free that has no price", () => {
  const calm = { ...STATUS, state: "idle", working: 0, waiting: 0, queued: 0, asks: 0 };
  expect(statusLine({ ...calm, cost: null }, 80)).toBe("Ada · idle · unpriced · anthropic/claude");
  expect(statusLine({ ...calm, isAway: true, model: null }, 80)).toBe(
    "Ada · server offline · $0.1234",
  );
});
