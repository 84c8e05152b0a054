import { describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import type { Caller } from "../guards/callers.ts";
import { createMessageRates, frameCost } from "./message-rates.ts";

const callerOf = (credentialId: string, userId = "usr_a"): Caller => ({
  principal: {
    kind: "user",
    orgId: "org_1",
    userId,
    name: userId,
    role: "member",
    scopes: ["*"],
    channel: "api",
  },
  credentialId,
  kind: "api_key",
});

const RATE = 10;
const BURST = RATE * 5;

describe("the rates of sockets", () => {
  it("let a burst pass, then one message after the other", () => {
    const clock = new FakeClock(1_000);
    const rate = createMessageRates(RATE, clock).live(callerOf("a"));
    rate.spend(BURST);
    expect(rate.owes()).toBe(0);
    rate.spend(1);
    expect(rate.owes()).toBe(100);
    clock.advance(100);
    expect(rate.owes()).toBe(0);
  });

  it("are shared by the sockets of a credential, so that more sockets gain little", () => {
    const rates = createMessageRates(RATE, new FakeClock(1_000));
    for (let at = 0; at < 3; at++) rates.live(callerOf("a")).spend(BURST);
    const another = rates.live(callerOf("a"));
    expect([another.owes() > 0, another.owesItself()]).toEqual([true, 0]);
    expect(rates.live(callerOf("b")).owes()).toBe(0);
    expect(rates.runner(callerOf("a")).owes()).toBe(0);
  });

  it("are shared by a person's credentials, so that more keys gain little", () => {
    const rates = createMessageRates(RATE, new FakeClock(1_000));
    for (const key of ["a", "b", "c", "d", "e"]) rates.live(callerOf(key)).spend(BURST);
    expect(rates.live(callerOf("f")).owes()).toBeGreaterThan(0);
    expect(rates.live(callerOf("g", "usr_b")).owes()).toBe(0);
  });

  it("count a runner's frame by its size", () => {
    const rates = createMessageRates(RATE, new FakeClock(1_000));
    const runner = rates.runner(callerOf("r"));
    runner.spend(frameCost("journal", 4 * 1024 * 1024));
    expect(runner.owes()).toBe(0);
    for (let at = 0; at < 5; at++) runner.spend(frameCost("journal", 4 * 1024 * 1024));
    expect(runner.owes()).toBeGreaterThan(0);
    expect(frameCost("delta", 100)).toBeLessThan(frameCost("journal", 100));
  });

  it("do not exist when they are switched off", () => {
    const rate = createMessageRates(0, new FakeClock(1_000)).live(callerOf("a"));
    rate.spend(1_000_000);
    expect(rate.owes()).toBe(0);
  });
});
