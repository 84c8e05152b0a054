import { expect, test } from "vitest";
import { accessWords, categoryWords, fadingWords, nameOf, relevanceWords } from "./memory-words.ts";

const NOW = Date.parse("2030-06-10T12:00:00Z");

test("relevance is a word, and days until it is gone", () => {
  const words = (relevance: number) => relevanceWords({ relevance, pinned: false });
  expect([1.9, 1, 0.5, 0.15].map(words)).toEqual(["used often", "fresh", "fading", "almost faded"]);
  expect(relevanceWords({ relevance: 0.15, pinned: true })).toBe("kept permanently");
  expect(fadingWords({ relevance: 1, pinned: false })).toBe(
    "Relevance 1.00 of 2. Unless a search finds it, it is removed in about 229 days.",
  );
  expect(fadingWords({ relevance: 0.1, pinned: false })).toContain("about 0 days");
  expect(fadingWords({ relevance: 1, pinned: true })).toContain("never");
});

test("access is how often and when last", () => {
  const at = (lastAccessedAt: string, accessCount: number) =>
    accessWords({ lastAccessedAt, accessCount }, NOW);
  expect(at("2030-06-10T12:00:00Z", 0)).toBe("not used yet");
  expect(at("2030-06-10T11:59:50Z", 1)).toBe("used 1 time, last just now");
  expect(at("2030-06-08T12:00:00Z", 3)).toBe("used 3 times, last 2 d ago");
  expect(at("2030-03-03T12:00:00Z", 3)).toMatch(/^used 3 times, last on /);
});

test("a memory is called by its title, or by how it begins", () => {
  expect(nameOf({ title: "Checkout", content: "x" })).toBe("Checkout");
  expect(nameOf({ title: null, content: "one\ntwo" })).toBe("one");
  expect(nameOf({ title: null, content: "x".repeat(100) })).toBe(`${"x".repeat(80)}…`);
  expect(categoryWords("my own")).toBe("my own");
});
