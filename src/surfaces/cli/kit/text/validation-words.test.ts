import { expect, it } from "vitest";
import * as z from "zod";
import { refusalLines } from "./validation-words.ts";

const schema = z.strictObject({
  title: z.string().min(1).max(5),
  labels: z.array(z.string().max(9)).max(1).optional(),
  priority: z.enum(["high", "low"]).optional(),
  dueAt: z.iso.datetime({ offset: true }).optional(),
  limit: z.number().min(1).max(200).optional(),
});

/** Lines for the details that a server sends. */
function linesFor(value: unknown): string[] {
  const details = (schema.safeParse(value).error?.issues ?? []).map(({ path, message }) => ({
    path: path.join("."),
    message,
  }));
  const [first] = details;
  return refusalLines(first?.path ? `${first.path}: ${first.message}` : "", details);
}

it.each([
  [{ title: "" }, "title must not be empty."],
  [{ title: "too long" }, "title is too long: at most 5 characters."],
  [{}, "title is missing."],
  [{ title: "x", labels: ["a", "b"] }, "labels has too many items: at most 1."],
  [{ title: "x", labels: ["much too long"] }, "labels 1 is too long: at most 9 characters."],
  [{ title: "x", priority: "huge" }, "priority must be one of high, low."],
  [{ title: "x", dueAt: "soon" }, "dueAt is not a time, such as 2030-01-31T12:00:00Z."],
  [{ title: "x", limit: 0 }, "limit must be at least 1."],
  [{ title: "x", limit: 900 }, "limit must be at most 200."],
  [{ title: 5 }, "title: Invalid input: expected string, received number."],
])("%j", (value, line) => {
  expect(linesFor(value)).toEqual([line]);
});

it("says each wrong value once", () => {
  expect(linesFor({ title: "", limit: 0 })).toEqual([
    "title must not be empty.",
    "  limit must be at least 1",
  ]);
});

it("leaves a message that says something of its own", () => {
  expect(refusalLines("No.", [{ path: "a", message: "wrong" }])).toEqual(["No.", "  a: wrong"]);
  const unknown = { path: "", message: 'Unrecognized key: "x"' };
  expect(refusalLines('Unrecognized key: "x". Remove it.', [unknown])).toEqual([
    'Unrecognized key: "x". Remove it.',
  ]);
});
