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

  it("makes an account wait after ten failures, at the address that they come from", () => {
    const { clock, lockout } = start();
    for (let i = 0; i < 10; i++) lockout.attempt({ account: "a", address: "192.0.2.1" });
    clock.advance(5 * MINUTE_MS);
    const again = () => lockout.attempt({ account: "a", address: "192.0.2.1" });
    expect(refusal(again)).toMatchObject({
      code: "sign_in_locked",
      retryAfterMs: 10 * MINUTE_MS,
    });
    expect(refusal(() => lockout.attempt({ account: "b", address: "192.0.2.1" }))).toBeUndefined();
    // A stranger at another address locks nobody out.
    expect(refusal(() => lockout.attempt({ account: "a", address: "192.0.2.2" }))).toBeUndefined();
    clock.advance(10 * MINUTE_MS);
    expect(refusal(again)).toBeUndefined();
  });

  it("takes all addresses of an IPv6 network for one", () => {
    const { lockout } = start();
    for (let i = 0; i < 10; i++) lockout.attempt({ account: "a", address: `2001:db8::${i}` });
    const address = "2001:db8::ffff:1";
    expect(refusal(() => lockout.attempt({ account: "a", address }))).toBeInstanceOf(Refusal);
    const other = "2001:db8:0:1::1";
    expect(refusal(() => lockout.attempt({ account: "a", address: other }))).toBeUndefined();
  });

  it("makes an account wait that is tried from everywhere, except in browsers it knows", () => {
    const { lockout } = start();
    for (let i = 0; i < 100; i++) lockout.attempt({ account: "a", address: `198.51.100.${i}` });
    const address = "203.0.113.1";
    expect(refusal(() => lockout.attempt({ account: "a", address }))).toBeInstanceOf(Refusal);
    for (let i = 0; i < 50; i++) lockout.attemptFrom(address);
    const known = { account: "a", address, knownBrowser: "b1" };
    for (let i = 0; i < 10; i++) expect(refusal(() => lockout.attempt(known))).toBeUndefined();
    // Attempts of a marked browser are limited too.
    expect(refusal(() => lockout.attempt(known))).toBeInstanceOf(Refusal);
    expect(refusal(() => lockout.attempt({ ...known, knownBrowser: "b2" }))).toBeUndefined();
  });

  it("keeps its counters through a flood of new names and addresses", () => {
    const { lockout } = start();
    const target = { account: "a", address: "192.0.2.1" };
    for (let i = 0; i < 10; i++) lockout.attempt(target);
    for (let i = 0; i < 60_000; i++)
      lockout.attempt({
        account: `x${i}`,
        address: `2001:db8:${(i >> 16).toString(16)}:${(i & 0xffff).toString(16)}::1`,
      });
    expect(refusal(() => lockout.attempt(target))).toBeInstanceOf(Refusal);
  });

  it("makes an address wait that tries many accounts", () => {
    const { lockout } = start();
    for (let i = 0; i < 50; i++) lockout.attempt({ account: `account ${i}`, address: "x" });
    expect(refusal(() => lockout.attempt({ account: "other", address: "x" }))).toBeInstanceOf(
      Refusal,
    );
    expect(refusal(() => lockout.attempt({ account: "other", address: "y" }))).toBeUndefined();
  });

  it("forgets failures of an account that signs in, and counts no success", () => {
    const { lockout } = start();
    for (let round = 0; round < 20; round++) {
      for (let i = 0; i < 2; i++) lockout.attempt({ account: "a", address: "x" });
      lockout.attempt({ account: "a", address: "x" }).succeeded();
    }
    // Forty failures count for the address, and no successes.
    for (let i = 0; i < 10; i++) lockout.attempt({ account: `b${i}`, address: "x" });
    expect(refusal(() => lockout.attempt({ account: "c", address: "x" }))).toBeInstanceOf(Refusal);
  });

  it("is given back what was no guess", () => {
    const { lockout } = start();
    for (let i = 0; i < 60; i++) lockout.attemptFrom("x").giveBack();
    for (let i = 0; i < 20; i++) lockout.attempt({ account: "a", address: "x" }).giveBack();
    for (let i = 0; i < 9; i++) lockout.attempt({ account: "a", address: "x" });
    expect(lockout.attempt({ account: "a", address: "x" }).isLast).toBe(true);
    expect(refusal(() => lockout.attempt({ account: "a", address: "x" }))).toBeInstanceOf(Refusal);
    // Nothing was counted besides nine failures and one more.
    for (let i = 0; i < 39; i++) lockout.attemptFrom("x");
    expect(lockout.attemptFrom("x").isLast).toBe(true);
  });
});
