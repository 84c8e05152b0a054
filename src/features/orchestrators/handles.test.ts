import { describe, expect, it } from "vitest";
import {
  freeHandle,
  HANDLE,
  handleFrom,
  handleKey,
  handleStem,
  MAX_HANDLE_CHARS,
} from "./handles.ts";

describe("handles", () => {
  it.each([
    ["Ann", "ann"],
    ["Ann Lee", "ann-lee"],
    ["Zoë Müller-Łuk", "zoe-muller-uk"],
    ["  --  ", "agent"],
    ["李雷", "agent"],
    ["J", "j-agent"],
    ["x".repeat(80), "x".repeat(MAX_HANDLE_CHARS)],
  ])("of %s", (name, handle) => {
    expect(handleFrom(name)).toBe(handle);
    expect(handle).toMatch(HANDLE);
  });

  it("are free, or become free with the first number that does it", () => {
    expect(freeHandle("Ann", new Set())).toBe("Ann");
    expect(freeHandle("Ann", new Set(["ann", "ann-2"]))).toBe("Ann-3");
    expect(freeHandle("orchestrator", new Set())).toBe("orchestrator-2");
  });

  it("are still handles when a number is put to a long one, and share its stem", () => {
    const long = `${"a".repeat(23)}-${"b".repeat(6)}`;
    const taken = new Set([
      long,
      ...Array.from({ length: 200 }, (_, n) => `${"a".repeat(23)}-${n}`),
    ]);
    const free = freeHandle(long, taken);
    expect(free).toMatch(HANDLE);
    expect(handleKey(free).startsWith(handleKey(handleStem(long)))).toBe(true);
  });
});
