import { expect, it, test } from "vitest";
import { ApiError } from "#surfaces/web/kit/api/api-client.ts";
import { fieldOfImport, importBodyOf, importedWords, sourceWords } from "./skill-words.ts";

test("what is left empty is not sent", () => {
  expect(importBodyOf({ url: " https://a/b ", ref: " ", path: "" })).toEqual({
    url: "https://a/b",
  });
  expect(importBodyOf({ url: "u", ref: "v1", path: "a/b" })).toEqual({
    url: "u",
    ref: "v1",
    path: "a/b",
  });
});

it.each([
  ["address_refused", "url"],
  ["ref_invalid", "ref"],
  ["no_skill_found", "path"],
  ["imports_busy", undefined],
])("%s is told at %s", (code, field) => {
  expect(fieldOfImport(new ApiError(400, code, "words"))).toBe(field);
});

test("says which are different, or that none is", () => {
  const skill = { name: "pdf", description: "d", sha256: "ab", source: null };
  expect(importedWords([{ ...skill, change: "added" }])).toBe("pdf added.");
  expect(importedWords([{ ...skill, change: "unchanged" }])).toBe("Already up to date: pdf.");
});

test("says where it came from and what it is pinned to", () => {
  const sha256 = "ab".repeat(32);
  expect(sourceWords(null, sha256)).toBe("imported from files · abababababab");
  const source = { url: "https://h/a", ref: "v1", path: "skills/pdf", commit: "c".repeat(40) };
  expect(sourceWords(source, sha256)).toBe("h/a › skills/pdf · v1 at cccccccccccc · abababababab");
});
