import { expect, test } from "vitest";
import { countChanges, diffOf, parsePatch } from "./diff.ts";

const PATCH = `diff --git a/x b/x
--- a/x
+++ b/x
@@ -3,3 +3,4 @@ function x()
 same
--- a comment in SQL
+new
+er
 end
\\ No newline at end of file
@@ -20 +21 @@
-a
+b
`;

test("a patch becomes numbered lines; what looks like a header inside a hunk is a line", () => {
  const lines = parsePatch(PATCH);
  expect(lines.map(({ kind, old, new: now, text }) => [kind, old, now, text])).toEqual([
    ["hunk", null, null, "function x()"],
    ["same", 3, 3, "same"],
    ["del", 4, null, "-- a comment in SQL"],
    ["add", null, 4, "new"],
    ["add", null, 5, "er"],
    ["same", 5, 6, "end"],
    ["note", null, null, "No newline at end of file"],
    ["hunk", null, null, ""],
    ["del", 20, null, "a"],
    ["add", null, 21, "b"],
  ]);
  expect(countChanges(lines)).toEqual({ additions: 3, deletions: 2 });
});

test("nothing readable gives no lines", () => {
  expect(parsePatch("")).toEqual([]);
  expect(parsePatch("Binary files differ")).toEqual([]);
});

test("a replacement shows what stays at both ends once", () => {
  const kinds = (before: string, after: string) =>
    diffOf(before, after).map(({ kind, text }) => `${kind} ${text}`);
  expect(kinds("a\nb\nc", "a\nB\nc\n")).toEqual(["same a", "del b", "add B", "same c"]);
  expect(kinds("", "x\n")).toEqual(["add x"]);
  expect(kinds("a\na", "a")).toEqual(["same a", "del a"]);
});
