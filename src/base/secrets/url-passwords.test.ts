import { describe, expect, it } from "vitest";
import { growth, HOSTILE, MOST_GROWTH, repeated } from "#test/growth.ts";
import { redactText } from "../log.ts";
import { withoutUrlPasswords } from "./url-passwords.ts";

/** The pattern that says what is meant, and is slow on long words. */
const PATTERN = /(\w+:\/\/[^\s:/@]*:)\S*@/g;

describe("passwords in addresses", () => {
  it.each([
    ["postgres://u:p@host/db", "postgres://u:[x]@host/db"],
    ["x=a://:p@h b://u:p:q@r@h", "x=a://:[x]@h b://u:[x]@h"],
    ["http://host/a?b=c://u:p@h", "http://host/a?b=c://u:[x]@h"],
    ["://u:p@h http://u@h a:b@c", "://u:p@h http://u@h a:b@c"],
  ])("%s", (text, safe) => {
    expect(withoutUrlPasswords(text, "[x]")).toBe(safe);
  });

  it("are those that the pattern finds, in any text", () => {
    const pieces = ["://", ":", "@", "/", " ", "\n", "\u00a0", "a", "é", "_9", "-", "://u:", "$&"];
    let seed = 7;
    for (let count = 0; count < 20_000; count++) {
      let text = "";
      for (let length = 0; length < 12; length++) {
        seed = (seed * 48_271) % 2_147_483_647;
        text += pieces[seed % pieces.length];
      }
      expect(withoutUrlPasswords(text, "[x]")).toBe(text.replace(PATTERN, "$1[x]@"));
    }
  });
});

describe("what is taken out of log lines", () => {
  it.each(HOSTILE)("takes time in proportion to the text: %s", (_name, unit) => {
    expect(growth(repeated(unit), redactText)).toBeLessThan(MOST_GROWTH);
  });
});
