import { expect, test } from "vitest";
import { asText, callLine, withoutColours } from "./tool-words.ts";

test("one line says what a call is about", () => {
  expect(callLine({ timeout: 5, command: "npm test\n -- x" })).toBe("npm test -- x");
  expect(callLine({ content: "long", path: "a.ts" })).toBe("a.ts");
  expect(callLine({ limit: 5 })).toBe('{"limit":5}');
  expect(callLine({})).toBe("");
  expect(callLine(null)).toBe("");
  expect(callLine("x".repeat(300))).toHaveLength(161);
});

test("text stays text, content blocks become theirs, the rest is JSON", () => {
  expect(asText("a\nb")).toBe("a\nb");
  expect(
    asText({
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    }),
  ).toBe("a\nb");
  expect(asText({ changed: 1 })).toBe('{\n  "changed": 1\n}');
  expect(asText(null)).toBe("");
});

test("the colours of a terminal are left out, other controls are not", () => {
  expect(withoutColours("\u001b[1;31mred\u001b[0m\r\nplain\u001b[2K")).toBe("red\nplain\u001b[2K");
});
