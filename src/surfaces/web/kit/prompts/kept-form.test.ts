import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keepForm, readForm } from "./kept-form.ts";

const FIRST = { title: "", labels: "" };

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal("sessionStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, text: string) => kept.set(key, text),
    removeItem: (key: string) => kept.delete(key),
  });
});
afterEach(() => void vi.unstubAllGlobals());

test("gives back what was left, and what is new in the form as it begins", () => {
  expect(readForm("a", FIRST)).toEqual(FIRST);
  keepForm("a", { title: "Otters" });
  expect(readForm("a", FIRST)).toEqual({ title: "Otters", labels: "" });
  expect(readForm("b", FIRST)).toEqual(FIRST);
  keepForm("a", null);
  expect(readForm("a", FIRST)).toEqual(FIRST);
});

test("begins anew when what was kept cannot be read, or nothing can be kept", () => {
  sessionStorage.setItem("muster.draft.a", "{");
  expect(readForm("a", FIRST)).toEqual(FIRST);
  sessionStorage.setItem("muster.draft.a", "[1]");
  expect(readForm("a", FIRST)).toEqual(FIRST);
  vi.stubGlobal("sessionStorage", undefined);
  keepForm("a", { title: "Otters" });
  expect(readForm("a", FIRST)).toEqual(FIRST);
});
