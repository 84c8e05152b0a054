import { expect, it } from "vitest";
import { quotesAny, replaceQuotes, stringsIn } from "./quoted-text.ts";

it("finds strings at any depth", () => {
  expect(stringsIn({ a: ["x", { b: "y" }], c: 1, d: null })).toEqual(["x", "y"]);
});

it("finds a quotation that was cut, and takes no small word for one", () => {
  const long = `begin ${"middle ".repeat(50)}end`;
  expect(quotesAny(`…${long.slice(-200)}`, [long])).toBe(true);
  expect(quotesAny(`said: ${long.slice(0, 120)}…`, [long])).toBe(true);
  expect(quotesAny("the end", [long])).toBe(false);
  expect(quotesAny("ls -la", ["ls", "", "  "])).toBe(false);
  expect(quotesAny("it is hunter2", ["hunter2"])).toBe(true);
});

it("replaces what quotes, and leaves the rest", () => {
  const value = { text: "it is hunter2", kind: "ended", list: ["hunter2", 7] };
  expect(replaceQuotes(value, ["hunter2"], "[removed]")).toEqual({
    text: "[removed]",
    kind: "ended",
    list: ["[removed]", 7],
  });
});
