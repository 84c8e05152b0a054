import { expect, it, test } from "vitest";
import {
  addFile,
  addRule,
  bodyOf,
  changeFile,
  changeRule,
  newDraft,
  problemsOf,
  removeFile,
  removeRule,
} from "./persona-draft.ts";

const named = () => ({ ...newDraft(), name: " Otter " });

test("a new file goes last and stays itself while it is renamed", () => {
  const two = addFile(named());
  const [first, second] = two.files;
  expect(second?.order).toBe("20");
  const changed = changeFile(two, second?.key ?? -1, { filename: "rules.md", order: "5" });
  expect(changed.files.map(({ filename }) => filename)).toEqual(["persona.md", "rules.md"]);
  // A removed file's key must not be reused while other files keep theirs.
  const again = addFile(removeFile(changed, first?.key ?? -1));
  expect(new Set(again.files.map(({ key }) => key)).size).toBe(2);
});

it.each([
  ["", "persona.md", "1", "name"],
  ["a", " ", "1", "files.0.filename"],
  ["a", "x.md", "1.5", "files.0.sortOrder"],
  ["a", "x.md", "-1", "files.0.sortOrder"],
  ["a", "x.md", "", "files.0.sortOrder"],
  ["a", "x.md", "1000001", "files.0.sortOrder"],
])("name %j, file %j, order %j is told at its field", (name, filename, order, field) => {
  const draft = changeFile({ ...newDraft(), name }, 0, { filename, order });
  expect(Object.keys(problemsOf(draft))).toEqual([field]);
});

test("two files may not differ by capitals alone", () => {
  const two = changeFile(addFile(named()), 1, { filename: "Persona.MD" });
  expect(problemsOf(two)["files.1.filename"]).toMatch(/twice/);
});

test("a rule names a tool and what it is about", () => {
  const draft = addRule(named());
  expect(problemsOf(draft)).toHaveProperty(["toolPolicy.0.tool"]);
  const good = changeRule(draft, 0, { tool: " bash ", pattern: "npm test*", effect: "allow" });
  expect(problemsOf(good)).toEqual({});
  expect(bodyOf(good, undefined).toolPolicy).toEqual([
    { tool: "bash", pattern: "npm test*", effect: "allow" },
  ]);
  expect(problemsOf(changeRule(good, 0, { pattern: "" }))).toHaveProperty(["toolPolicy.0.pattern"]);
  expect(removeRule(good, 0).rules).toEqual([]);
});

test("what is sent is tidy, but for the text itself", () => {
  const draft = changeFile(named(), 0, { filename: " a.md ", order: " 7 ", content: " as is\n" });
  expect(problemsOf(draft)).toEqual({});
  expect(bodyOf(draft, 3)).toEqual({
    name: "Otter",
    description: "",
    visibility: "private",
    model: null,
    runtime: null,
    toolPolicy: [],
    files: [{ filename: "a.md", sortOrder: 7, content: " as is\n" }],
    ifVersion: 3,
  });
  expect(bodyOf(draft, undefined)).not.toHaveProperty("ifVersion");
});
