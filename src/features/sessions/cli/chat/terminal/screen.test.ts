import { describe, expect, it } from "vitest";
import { guardOutput } from "#surfaces/cli/kit/text/guarded-output.ts";
import { styleFor } from "#surfaces/cli/kit/text/terminal.ts";
import { TinyTerminal } from "#test/cli/tiny-terminal.ts";
import { drawFooter } from "./footer.ts";
import { type EditorLine, EMPTY_LINE } from "./line-editor.ts";
import { type Footer, Screen } from "./screen.ts";

const PLAIN = styleFor({ write() {} }, {});
const lineOf = (text: string, cursor = text.length): EditorLine => ({
  ...EMPTY_LINE,
  text,
  cursor,
});

function setUp(columns = 20, rows = 10) {
  const terminal = new TinyTerminal(columns, rows);
  const state = { rows: ["status", "› "], cursor: { row: 1, column: 2 } };
  const screen = new Screen(guardOutput(terminal), (): Footer => state);
  return { terminal, state, screen };
}

describe("the screen", () => {
  it("lets text go up and keeps the footer below it", () => {
    const { terminal, screen } = setUp();
    screen.refresh();
    expect(terminal.text).toBe("status\n›");
    screen.write("Hello ");
    screen.write("world, this is long");
    expect(terminal.text).toBe("Hello world, this\nis long\nstatus\n›");
    screen.write("er\nnext\n");
    expect(terminal.text).toBe("Hello world, this\nis longer\nnext\nstatus\n›");
    expect(terminal.cursor).toEqual({ row: 4, column: 2 });
  });

  it("writes every letter once, in whatever pieces it comes", () => {
    const { terminal, screen } = setUp(24, 6);
    const text = "One two three four five six seven eight nine ten.\n\nAnd 日本語 too.\n";
    for (const letter of text) screen.write(letter);
    expect(terminal.text).toBe(
      "One two three four five\nsix seven eight nine\nten.\n\nAnd 日本語 too.\nstatus\n›",
    );
  });

  it("leaves nothing behind when the footer shrinks or the window does", () => {
    const { terminal, state, screen } = setUp(40, 10);
    state.rows = ["a queued prompt of some length", "status", "› "];
    state.cursor = { row: 2, column: 2 };
    screen.refresh();
    terminal.columns = 20;
    screen.write("text\n");
    state.rows = ["status", "› "];
    state.cursor = { row: 1, column: 2 };
    screen.refresh();
    expect(terminal.lines.filter((line) => line === "status")).toHaveLength(1);
    expect(terminal.lines.slice(-3)).toEqual(["text", "status", "›"]);
  });

  it("draws no more than fits into a low window", () => {
    const { terminal, state, screen } = setUp(20, 4);
    state.rows = ["1", "2", "3", "4", "5"];
    state.cursor = { row: 4, column: 1 };
    screen.refresh();
    screen.refresh();
    expect(terminal.lines).toEqual(["4", "5"]);
  });

  it("takes the footer away at the end", () => {
    const { terminal, screen } = setUp();
    screen.write("half a line");
    screen.close();
    screen.write("never seen");
    terminal.write("after\r\n");
    expect(terminal.text).toBe("half a line\nafter");
  });
});

describe("the footer", () => {
  const draw = (line: EditorLine, columns = 12, waiting: string[] = []) =>
    drawFooter({ waiting, status: "idle", label: "›", line, columns, style: PLAIN });

  it("shows the line and where the cursor is", () => {
    expect(draw(lineOf("hello", 2))).toEqual({
      rows: ["idle", "› hello"],
      cursor: { row: 1, column: 4 },
    });
    expect(draw(lineOf("日本", 1)).cursor).toEqual({ row: 1, column: 4 });
  });

  it("breaks long and many lines, and follows the cursor", () => {
    expect(draw(lineOf("abcdefghijklm"))).toEqual({
      rows: ["idle", "› abcdefghij", "  klm"],
      cursor: { row: 2, column: 5 },
    });
    expect(draw(lineOf("abcdefghij"))).toMatchObject({ cursor: { row: 2, column: 2 } });
    expect(draw(lineOf("a\nb", 1))).toEqual({
      rows: ["idle", "› a", "  b"],
      cursor: { row: 1, column: 3 },
    });
    const many = draw(lineOf(Array.from({ length: 30 }, (_, at) => at).join("\n")));
    expect(many.rows).toHaveLength(9);
    expect(many.rows.at(-1)).toBe("  29");
  });

  it("shows what waits, in few rows and without commands for the terminal", () => {
    const { rows } = draw(EMPTY_LINE, 12, ["one\u001b[2J\ntwo", "b", "c", "d", "e"]);
    expect(rows).toEqual(["⋯ one<U+001…", "⋯ b", "⋯ c", "⋯ 2 more", "idle", "› "]);
  });
});
