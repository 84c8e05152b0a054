import { describe, expect, it } from "vitest";
import { createTrustedTime } from "./trusted-time.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

function start() {
  const clock = { wall: 1_000 * DAY_MS, instant: 5 };
  const time = createTrustedTime({
    now: () => clock.wall,
    steady: () => clock.instant,
    sleep: async () => {},
  });
  return {
    time,
    pass(ms: number) {
      clock.wall += ms;
      clock.instant += ms;
    },
    jump(ms: number) {
      clock.wall += ms;
    },
  };
}

describe("trusted time", () => {
  it("is the wall clock while that one goes as time does", () => {
    const { time, pass, jump } = start();
    pass(DAY_MS);
    jump(500);
    expect(time()).toBe(1_001 * DAY_MS + 500);
  });

  it("goes on from before a jump ahead, and follows it after an hour", () => {
    const { time, pass, jump } = start();
    jump(400 * DAY_MS);
    expect(time()).toBe(1_000 * DAY_MS);
    pass(HOUR_MS - 1);
    expect(time()).toBe(1_000 * DAY_MS + HOUR_MS - 1);
    pass(1);
    expect(time()).toBe(1_400 * DAY_MS + HOUR_MS);
  });

  it("counts the hour anew when the clock jumps again", () => {
    const { time, pass, jump } = start();
    jump(HOUR_MS);
    time();
    pass(50 * MINUTE_MS);
    jump(400 * DAY_MS);
    time();
    pass(50 * MINUTE_MS);
    expect(time()).toBe(1_000 * DAY_MS + 100 * MINUTE_MS);
  });

  it("forgets a jump that was taken back, and believes a clock that is set back", () => {
    const { time, pass, jump } = start();
    jump(400 * DAY_MS);
    time();
    jump(-400 * DAY_MS);
    expect(time()).toBe(1_000 * DAY_MS);
    pass(HOUR_MS);
    jump(400 * DAY_MS);
    expect(time()).toBe(1_000 * DAY_MS + HOUR_MS);
    jump(-401 * DAY_MS);
    expect(time()).toBe(999 * DAY_MS + HOUR_MS);
  });
});
