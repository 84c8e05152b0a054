import { describe, expect, it } from "vitest";
import { exceededBound } from "./json-bounds.ts";

const bounds = { depth: 4, values: 10 };
const exceeded = (text: string) => exceededBound(Buffer.from(text), bounds);

describe("bounds of JSON", () => {
  it("are kept by what is nested and full within them", () => {
    for (const text of ["", "1", "[[[[]]]]", '{"a":"[[[[[[[[[["}', '["\\"[[[[[","\\\\"]', "]]]]]"])
      expect(exceeded(text)).toBeUndefined();
  });

  it("are exceeded by depth and by number, of objects and arrays alike", () => {
    expect(exceeded("[[[[[")).toBe("depth");
    expect(exceeded('{"a":{"b":[{"c":{')).toBe("depth");
    expect(exceeded("[1,2,3,4,5,6,7,8,9,10,11]")).toBe("values");
    expect(exceeded("[],[],[],[],[],[]")).toBe("values");
    // A string that has no end hides the rest, of which no parser would make anything either.
    expect(exceeded('"[[[[[[[')).toBeUndefined();
  });

  it("agree with what a parser finds", () => {
    let seed = 1;
    const random = (most: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % most;
    };
    const make = (depth: number): unknown => {
      const kind = random(depth > 0 ? 5 : 3);
      if (kind === 0) return '\\"[{,]}"\\'.slice(0, random(11));
      if (kind < 3) return random(100);
      const items = Array.from({ length: random(4) }, () => make(depth - 1));
      return kind === 3 ? items : Object.fromEntries(items.map((item, at) => [`"${at}[`, item]));
    };
    const depthOf = (value: unknown): number =>
      typeof value === "object" && value !== null
        ? 1 + Math.max(0, ...Object.values(value).map(depthOf))
        : 0;
    for (let count = 0; count < 2_000; count++) {
      const value = make(7);
      const isDeep = depthOf(value) > 4;
      const bytes = Buffer.from(JSON.stringify(value));
      expect(exceededBound(bytes, { depth: 4, values: 1e9 })).toBe(isDeep ? "depth" : undefined);
    }
  });
});
