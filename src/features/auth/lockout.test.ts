import { describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { Refusal } from "#base/refusal.ts";
import { createLockout } from "./lockout.ts";

const MINUTE_MS = 60_000;

describe("lockout", () => {
  const start = () => {
    const clock = new FakeClock();
    return { clock, lockout: createLockout(clock.now) };
  };
  const refusal = (attempt: () => unknown): Refusal | undefined => {
    try {
      attempt();
      return undefined;
    } catch (error) {
      return error as Refusal;
    }
  };

  it("makes an account wait after ten failures, wherever they come from", () => {
    const { clock, lockout } = start();
    for (let i = 0; i < 10; i++) lockout.attempt("a", `address ${i}`);
    clock.advance(5 * MINUTE_MS);
    const refused = refusal(() => lockout.attempt("a", "address 11"));
    expect(refused).toMatchObject({ code: "sign_in_locked", retryAfterMs: 10 * MINUTE_MS });
    expect(refusal(() => lockout.attempt("b", "address 1"))).toBeUndefined();
    clock.advance(10 * MINUTE_MS);
    expect(refusal(() => lockout.attempt("a", "address 11"))).toBeUndefined();
  });

  it("makes an address wait that tries many accounts", () => {
    const { lockout } = start();
    for (let i = 0; i < 50; i++) lockout.attempt(`account ${i}`, "x");
    expect(refusal(() => lockout.attempt("other", "x"))).toBeInstanceOf(Refusal);
    expect(refusal(() => lockout.attempt("other", "y"))).toBeUndefined();
  });

  it("forgets failures of an account that signs in, and counts no success", () => {
    const { lockout } = start();
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < 2; i++) lockout.attempt("a", "x");
      lockout.attempt("a", "x").succeeded();
    }
    // Forty failures from the address, none of the successes.
    for (let i = 0; i < 10; i++) lockout.attempt(`b${i}`, "x");
    expect(refusal(() => lockout.attempt("c", "x"))).toBeInstanceOf(Refusal);
  });

  it("is given back what was no guess", () => {
    const { lockout } = start();
    for (let i = 0; i < 60; i++) lockout.attemptFrom("x").giveBack();
    for (let i = 0; i < 20; i++) lockout.attempt("a", "x").giveBack();
    for (let i = 0; i < 9; i++) lockout.attempt("a", "x");
    expect(lockout.attempt("a", "x").isLast).toBe(true);
    expect(refusal(() => lockout.attempt("a", "y"))).toBeInstanceOf(Refusal);
    // Of nine failures and one more, nothing else was counted.
    for (let i = 0; i < 39; i++) lockout.attemptFrom("x");
    expect(lockout.attemptFrom("x").isLast).toBe(true);
  });
});
