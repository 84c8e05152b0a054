import { expect, test } from "vitest";
import { mustAsk } from "./must-ask.ts";

const ANN = { id: "usr_1", name: "Ann" };
const BEN = { id: "usr_2", name: "Ben" };

test("a link of this server signs in at once, where nobody else is signed in", () => {
  expect(mustAsk({ user: ANN, current: null, needsConsent: false })).toBe(false);
  expect(mustAsk({ user: ANN, current: ANN, needsConsent: false })).toBe(false);
  expect(mustAsk({ user: ANN, current: BEN, needsConsent: false })).toBe(true);
});

test("a link that somebody has made asks always", () => {
  for (const current of [null, ANN, BEN])
    expect(mustAsk({ user: ANN, current, needsConsent: true })).toBe(true);
});
