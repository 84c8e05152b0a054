import { describe, expect, it } from "vitest";
import {
  freeHandle,
  HANDLE,
  handleFrom,
  handleKey,
  handleStem,
  isPlatformName,
  isReserved,
  MAX_HANDLE_CHARS,
  usableHandle,
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
  });

  it.each([
    "system",
    "System2",
    "sys-tem",
    "m-u-s-t-e-r",
    "admin-1",
    "owner",
    "everyone-99",
    "root",
  ])("like %s are nobody's, and become another name", (handle) => {
    expect(isReserved(handle)).toBe(true);
    const usable = usableHandle(handle);
    expect(usable).toMatch(HANDLE);
    expect(isReserved(usable)).toBe(false);
    expect(isReserved(freeHandle(usable, new Set([handleKey(usable)])))).toBe(false);
  });

  it("never end in one that is nobody's, whatever numbers are put to them", () => {
    const usable = usableHandle("orchestrator-111111111111-a");
    const free = freeHandle(usable, new Set([handleKey(usable)]));
    expect(free).toMatch(HANDLE);
    expect(isReserved(free)).toBe(false);
    expect(usableHandle("ann-lee")).toBe("ann-lee");
  });

  it.each(["-ann", "ann-", "ann--lee", "a", "ann_lee", "a".repeat(31), "änn"])(
    "are not written like %s",
    (handle) => expect(handle).not.toMatch(HANDLE),
  );

  it.each(["Muster", "MUSTER!", "m u s t e r", "Ｍuster"])("know %s as the platform's", (name) => {
    expect(isPlatformName(name)).toBe(true);
    expect(isPlatformName(`${name}s friend`)).toBe(false);
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
