import { expect, it, test } from "vitest";
import { addFile, bodyOf, changeFile, newDraft, problemOf, removeFile } from "./persona-draft.ts";

const named = () => ({ ...newDraft(), name: " Otter " });

test("a new file goes last and stays itself while it is renamed", () => {
  const two = addFile(named());
  const [first, second] = two.files;
  expect(second?.order).toBe("20");
  const changed = changeFile(two, second?.key ?? -1, { filename: "rules.md", order: "5" });
  expect(changed.files.map(({ filename }) => filename)).toEqual(["persona.md", "rules.md"]);
  // The key of a file that is gone must not come back while others still have theirs.
  const again = addFile(removeFile(changed, first?.key ?? -1));
  expect(new Set(again.files.map(({ key }) => key)).size).toBe(2);
});

it.each([
  ["", "persona.md", "1", /name/],
  ["a", " ", "1", /Every file/],
  ["a", "x.md", "1.5", /order of x.md/],
  ["a", "x.md", "-1", /order of x.md/],
  ["a", "x.md", "", /order of x.md/],
  ["a", "x.md", "1000001", /order of x.md/],
])("refuses name %j, file %j, order %j", (name, filename, order, words) => {
  const draft = changeFile({ ...newDraft(), name }, 0, { filename, order });
  expect(problemOf(draft)).toMatch(words);
});

test("two files may not differ by capitals alone", () => {
  const two = changeFile(addFile(named()), 1, { filename: "Persona.MD" });
  expect(problemOf(two)).toMatch(/twice/);
});

test("what is sent is tidy, but for the text itself", () => {
  const draft = changeFile(named(), 0, { filename: " a.md ", order: " 7 ", content: " as is\n" });
  expect(problemOf(draft)).toBeUndefined();
  expect(bodyOf(draft, 3)).toEqual({
    name: "Otter",
    description: "",
    visibility: "private",
    model: null,
    files: [{ filename: "a.md", sortOrder: 7, content: " as is\n" }],
    ifVersion: 3,
  });
  expect(bodyOf(draft, undefined)).not.toHaveProperty("ifVersion");
});
