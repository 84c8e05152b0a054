import { describe, expect, it } from "vitest";
import { kindsIn, ownPath, readWantedSearch, toggleKind } from "./page-search.ts";

describe("what is looked for", () => {
  it("is read from an address", () => {
    expect(readWantedSearch({ for: 42, kinds: "task,nonsense,message" })).toEqual({
      for: "42",
      kinds: "task,message",
    });
    expect(readWantedSearch({ kinds: "task,letter" })).toEqual({ kinds: "task,message" });
    expect(readWantedSearch({ for: { a: 1 }, kinds: "constructor" })).toEqual({});
  });

  it("is narrowed kind by kind; all of them is no filter", () => {
    expect(toggleKind([], "message")).toEqual(["message"]);
    expect(toggleKind(["message"], "session")).toEqual(["session", "message"]);
    expect(toggleKind(["message"], "message")).toEqual([]);
    expect(toggleKind(kindsIn("session,transcript,task,message,memory,persona"), "repo")).toEqual(
      [],
    );
  });

  it("leads to pages of this server only", () => {
    expect(ownPath("/sessions/ses_1#entry-3")).toBe("/sessions/ses_1#entry-3");
    for (const url of ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:1"])
      expect(ownPath(url)).toBeUndefined();
  });
});
