import { expect, test } from "vitest";
import { expiryOf, scopesToGive } from "./key-choices.ts";

test("nobody is offered more than they have", () => {
  expect(scopesToGive(["*"], true)).toContain("admin");
  expect(scopesToGive(["*"], false)).not.toContain("admin");
  expect(scopesToGive(["mail", "admin"], false)).toEqual(["mail"]);
  expect(scopesToGive(["mail", "admin"], true)).toEqual(["mail", "admin"]);
});

test("a key ends after its days, or never", () => {
  expect(expiryOf(30, Date.UTC(2026, 0, 1))).toBe("2026-01-31T00:00:00.000Z");
  expect(expiryOf(0, 0)).toBeUndefined();
});
