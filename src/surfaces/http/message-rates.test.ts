import { describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { createMessageRates, frameCost } from "./message-rates.ts";

const RATE = 10;
const BURST = RATE * 5;

describe("the rates of sockets", () => {
  it("let a burst pass, then one message after the other", () => {
    const clock = new FakeClock(1_000);
    const rate = createMessageRates(RATE, clock).live({ credentialId: "a", kind: "key" });
    rate.spend(BURST);
    expect(rate.owes()).toBe(0);
    rate.spend(1);
    expect(rate.owes()).toBe(100);
    clock.advance(100);
    expect(rate.owes()).toBe(0);
  });

  it("are shared by the sockets of a credential, so that more sockets gain little", () => {
    const rates = createMessageRates(RATE, new FakeClock(1_000));
    const caller = { credentialId: "a", kind: "key" };
    for (let at = 0; at < 3; at++) rates.live(caller).spend(BURST);
    expect(rates.live(caller).owes()).toBeGreaterThan(0);
    expect(rates.live({ ...caller, credentialId: "b" }).owes()).toBe(0);
    expect(rates.runner({ credentialId: "a" }).owes()).toBe(0);
  });

  it("count a runner's frame by its size", () => {
    const rates = createMessageRates(RATE, new FakeClock(1_000));
    const runner = rates.runner({ credentialId: "r" });
    runner.spend(frameCost("journal", 4 * 1024 * 1024));
    expect(runner.owes()).toBe(0);
    for (let at = 0; at < 5; at++) runner.spend(frameCost("journal", 4 * 1024 * 1024));
    expect(runner.owes()).toBeGreaterThan(0);
    expect(frameCost("delta", 100)).toBeLessThan(frameCost("journal", 100));
  });

  it("do not exist when they are switched off", () => {
    const rate = createMessageRates(0, new FakeClock(1_000)).live({
      credentialId: "a",
      kind: "key",
    });
    rate.spend(1_000_000);
    expect(rate.owes()).toBe(0);
  });
});
