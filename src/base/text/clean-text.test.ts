import { describe, expect, it } from "vitest";
import { cleanJson, cleanText, cleanValue, findUnstorable, quoteLines } from "./clean-text.ts";

describe("quoted text", () => {
  it("has no line without its mark, however lines are ended", () => {
    const quoted = quoteLines("a\nb\r\nc\rd\u2028e\u2029f\u0085g");
    expect(quoted).toBe("> a\n> b\n> c\n> d\n> e\n> f\n> g");
  });
});

describe("text for the store", () => {
  it("loses NUL and lone surrogates, and nothing else", () => {
    expect(cleanText("a\u0000b\ud800c\udc00")).toBe("a\ufffdb\ufffdc\ufffd");
    expect(cleanText("🙂 é \u0001")).toBe("🙂 é \u0001");
  });

  it("is cleaned inside JSON too, also where it is written as an escape", () => {
    expect(JSON.parse(cleanJson({ a: ["x\u0000", { b: "\ud800" }] }))).toEqual({
      a: ["x\ufffd", { b: "\ufffd" }],
    });
    expect(cleanJson({ a: "\\u0000 as text" })).toBe('{"a":"\\\\u0000 as text"}');
    expect(cleanJson(undefined)).toBe("null");
  });

  it("is found and cleaned in a value, in keys as well", () => {
    const value = { a: [1, null, { "k\u0000": "x\ud800" }], b: "fine" };
    expect(findUnstorable(value)).toEqual(["a", "2", "k\ufffd"]);
    expect(findUnstorable({ a: [{ b: "\u0000" }] })).toEqual(["a", "0", "b"]);
    expect(cleanValue(value)).toEqual({ a: [1, null, { "k\ufffd": "x\ufffd" }], b: "fine" });
    const clean = { a: ["é", 1] };
    expect(cleanValue(clean)).toBe(clean);
    expect(cleanValue("\u0000")).toBe("\ufffd");
  });
});
