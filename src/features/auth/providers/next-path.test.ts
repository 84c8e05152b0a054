import { expect, it } from "vitest";
import { nextPath } from "./next-path.ts";

it.each([
  ["/", "/"],
  ["/sessions/ses_1?a=b#c", "/sessions/ses_1?a=b#c"],
  ["/a/../b", "/b"],
  ["/ü", "/%C3%BC"],
  ["/settings//x", "/settings//x"],
])("%s is a page of ours", (asked, path) => {
  expect(nextPath(asked)).toBe(path);
});

it.each([
  undefined,
  "",
  "sessions",
  "//evil.example",
  "///evil.example",
  "/\\evil.example",
  "\\\\evil.example",
  "/a\\b",
  "/\t/evil.example",
  "/\n//evil.example",
  "/x/..//evil.example",
  "/.//evil.example",
  "/%2e%2e//evil.example",
  "https://evil.example",
  "javascript:alert(1)",
  " /x",
  "/api",
  "/api/auth/github/callback",
  "/x/../api/me",
  "/preview/x",
  `/${"x".repeat(500)}`,
])("%j is none", (asked) => {
  expect(nextPath(asked)).toBe("/");
});
