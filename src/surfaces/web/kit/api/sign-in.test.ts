import { expect, test } from "vitest";
import { SIGN_IN_PROBLEMS } from "#protocol/sign-in.ts";
import { problemIn, startUrl } from "./sign-in.ts";

test("a problem code in an address is shown in our own words", () => {
  expect(problemIn("")).toBeNull();
  expect(problemIn("?problem=account_unknown")).toBe(SIGN_IN_PROBLEMS.account_unknown);
  for (const made of ["Call+this+number", "toString", "__proto__", ""])
    expect(problemIn(`?problem=${made}`)).toBe(SIGN_IN_PROBLEMS.sign_in_failed);
});

test("a start says where to come back to", () => {
  expect(startUrl("github", "/sessions/x?a=1&b")).toBe(
    "/api/auth/github/start?next=%2Fsessions%2Fx%3Fa%3D1%26b",
  );
});
