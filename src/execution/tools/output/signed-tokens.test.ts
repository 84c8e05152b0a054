import { describe, expect, it } from "vitest";
import { growth, HOSTILE, MOST_GROWTH, repeated } from "#test/growth.ts";
import { createRedactor } from "./redact.ts";
import { withoutSignedTokens } from "./signed-tokens.ts";

/** The equivalent pattern, which is slow on many beginnings. */
const PATTERN = /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g;

describe("signed tokens", () => {
  it("are those that the pattern finds, in any text", () => {
    const pieces = [
      "eyJ",
      "-eyJaaaaaaaaaa.",
      "eyJaaaaaaaaaa",
      ".",
      "aaaaaaaaaa",
      ".eyJaaaaaaaaaa.",
      "a",
      " ",
      "é",
      "_",
    ];
    let seed = 11;
    let found = 0;
    for (let count = 0; count < 60_000; count++) {
      let text = "";
      for (let length = 0; length < 9; length++) {
        seed = (seed * 48_271) % 2_147_483_647;
        text += pieces[seed % pieces.length];
      }
      const safe = text.replace(PATTERN, "[x]");
      if (safe !== text) found += 1;
      expect(withoutSignedTokens(text, "[x]")).toBe(safe);
    }
    expect(found).toBeGreaterThan(100);
  });
});

describe("what is taken out of a tool's output", () => {
  const redact = createRedactor(["hunter2hunter2", "a".repeat(40)]);
  it.each(HOSTILE)("takes time in proportion to the text: %s", (_name, unit) => {
    expect(growth(repeated(unit), redact)).toBeLessThan(MOST_GROWTH);
  });
});
