import { expect, test } from "vitest";
import { readSecret, tokenInFragment } from "./read-secret.ts";

test("a link gives its token, from the fragment only", () => {
  expect(readSecret(" http://localhost:4747/sign-in#token=abc-1 ")).toEqual({ token: "abc-1" });
  expect(readSecret("#token=abc")).toEqual({ token: "abc" });
  expect(readSecret("token=abc")).toEqual({ token: "abc" });
  expect(readSecret("http://localhost:4747/sign-in?token=abc")).toBeUndefined();
  expect(readSecret("http://localhost:4747/#other=1")).toBeUndefined();
});

test("anything else of one piece is a key", () => {
  expect(readSecret("mk_123")).toEqual({ key: "mk_123" });
  expect(readSecret("two words")).toBeUndefined();
  expect(readSecret("")).toBeUndefined();
});

test("an empty token is none", () => {
  expect(tokenInFragment("#token=")).toBeUndefined();
  expect(tokenInFragment("")).toBeUndefined();
});
