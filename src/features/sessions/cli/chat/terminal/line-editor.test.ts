import { emitKeypressEvents, type Key } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { EMPTY_LINE, type KeyResult, pressKey } from "./line-editor.ts";

/** Types keys as a terminal sends them and Node reads them. */
function type(keys: string, history: readonly string[] = [], from = EMPTY_LINE) {
  const stream = new PassThrough();
  emitKeypressEvents(stream);
  let line = from;
  const done: Exclude<KeyResult, { type: "edited" }>[] = [];
  stream.on("keypress", (letter: string | undefined, key: Key) => {
    const typed = pressKey(line, letter, key, history);
    if (typed.type === "edited") line = typed.line;
    else {
      done.push(typed);
      if (typed.type === "submitted") line = EMPTY_LINE;
    }
  });
  stream.emit("data", Buffer.from(keys));
  return {
    line,
    done,
    shown: `${line.text.slice(0, line.cursor)}|${line.text.slice(line.cursor)}`,
  };
}

const LEFT = "\u001b[D";
const UP = "\u001b[A";
const DOWN = "\u001b[B";

describe("typing", () => {
  it.each([
    ["abc", "abc|"],
    [`abc${LEFT}${LEFT}X`, "aX|bc"],
    ["abc\u007f", "ab|"],
    [`日本👍🏽${LEFT}\u007f`, "日|👍🏽"],
    [`one two\u0017`, "one |"],
    ["one two\u0001X", "X|one two"],
    ["one two\u0001\u000b", "|"],
    ["one two\u0015x", "x|"],
    ["one two\u001bb\u001bbX", "X|one two"],
    ["one\u0001\u0005!", "one!|"],
    ["one\u001b[3~\u0001\u001b[3~", "|ne"],
    ["one\u001b\rtwo", "one\ntwo|"],
    ["one\ntwo\u0001X", "one\nX|two"],
    ["one\\\rtwo", "one\ntwo|"],
    [`one\ntwo${UP}X`, "oneX|\ntwo"],
    [`one\ntwo${UP}${DOWN}X`, "one\ntwoX|"],
    ["a\tb", "ab|"],
    ["a\u001b[15~b", "ab|"],
  ])("%j gives %j", (keys, shown) => {
    expect(type(keys)).toMatchObject({ shown, done: [] });
  });

  it("sends at Enter, and only then", () => {
    expect(type("hello\rrest")).toMatchObject({
      done: [{ type: "submitted", text: "hello" }],
      shown: "rest|",
    });
  });

  it("keeps what is pasted together, whatever its line ends", () => {
    const pasted = type("see: \u001b[200~one\r\ntwo\nthree\rfour\u0007\u001b[201~ end");
    expect(pasted).toMatchObject({ shown: "see: one\ntwo\nthree\nfour end|", done: [] });
    expect(type("\r", [], pasted.line).done).toEqual([
      { type: "submitted", text: "see: one\ntwo\nthree\nfour end" },
    ]);
  });

  it("goes through what was said before, and back to what was begun", () => {
    const history = ["first", "second"];
    expect(type(`beg${UP}`, history).shown).toBe("second|");
    expect(type(`beg${UP}${UP}${UP}`, history).shown).toBe("first|");
    expect(type(`beg${UP}${UP}${DOWN}`, history).shown).toBe("second|");
    expect(type(`beg${UP}${UP}${DOWN}${DOWN}${DOWN}`, history).shown).toBe("beg|");
    expect(type(`${UP}!${UP}`, history).shown).toBe("second|");
  });

  it("tells interrupts and the end of input apart from text", () => {
    expect(type("\u0003").done).toEqual([{ type: "interrupted" }]);
    expect(type("\u0004").done).toEqual([{ type: "left" }]);
    expect(type("ab\u0001\u0004")).toMatchObject({ done: [], shown: "|b" });
    expect(type("\u000c").done).toEqual([{ type: "redraw" }]);
  });
});
