import { expect, it } from "vitest";
import { titleFrom } from "./session-title.ts";

it.each([
  ["Count the files", "Count the files"],
  ["\n  \nFix the login\nIt fails on Mondays.", "Fix the login"],
  ["", undefined],
  [" \n\u2028 ", undefined],
  [
    "Please look into why the nightly build of the website has been failing since last week",
    "Please look into why the nightly build of the website has…",
  ],
  ["x".repeat(80), `${"x".repeat(60)}…`],
  // Cuts between whole characters.
  ["🦦".repeat(80), `${"🦦".repeat(60)}…`],
])("%j is called %j", (prompt, title) => {
  expect(titleFrom(prompt)).toBe(title);
});
