/**
 * A conversation on a terminal: messages scroll up, and the footer shows queue, status and input. Keys come
 * one by one; no text of an agent can control the terminal.
 */
import { emitKeypressEvents, type Key } from "node:readline";
import { PassThrough } from "node:stream";
import { TurnPrinter } from "#features/sessions/cli/turn/turn-printer.ts";
import type { Delta, SessionEvent } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { ownSequence } from "#surfaces/cli/kit/text/guarded-output.ts";
import { type Style, safeLine, safeText, styleFor } from "#surfaces/cli/kit/text/terminal.ts";
import type { Chat } from "../chat.ts";
import type { ChatView } from "../chat-view.ts";
import { drawFooter } from "./footer.ts";
import { type EditorLine, EMPTY_LINE, pressKey } from "./line-editor.ts";
import { Screen } from "./screen.ts";
import { statusLine } from "./status-line.ts";

const DEFAULT_ROWS = 24;
/** Rows for queue, status and input, so that a page is visible as a whole. */
const FOOTER_ROWS = 8;
const MIN_PAGE_ROWS = 3;
/** Outcomes about which nothing is printed. */
const SILENT_OUTCOMES: ReadonlySet<string> = new Set(["withdrawn", "merged", "completed"]);
const PASTE_ON = ownSequence("[?2004h");
const PASTE_OFF = ownSequence("[?2004l");

export class TerminalView implements ChatView {
  readonly #host: CliHost;
  readonly #style: Style;
  readonly #screen: Screen;
  #printer: TurnPrinter;
  #chat: Chat | undefined;
  #line: EditorLine = EMPTY_LINE;
  /** The pending approval, and the prompt whose typing it interrupted. */
  #shownApproval: string | undefined;
  #interruptedLine: EditorLine | undefined;
  #wasInterrupted = false;

  constructor(host: CliHost) {
    this.#host = host;
    this.#style = styleFor(host.stdout, host.env);
    this.#screen = new Screen(host.stdout, (columns) => this.#footer(columns));
    this.#printer = this.#newPrinter();
  }

  begin(): void {
    this.#printer = this.#newPrinter();
  }

  #newPrinter(): TurnPrinter {
    return new TurnPrinter({ stdout: this.#screen, stderr: this.#screen, env: this.#host.env });
  }

  /** Reads keys until the person leaves; true when they left by Ctrl-C. */
  async run(chat: Chat): Promise<boolean> {
    this.#chat = chat;
    const { stdin, stdout } = this.#host;
    const resized = () => this.#screen.refresh();
    stdin.setRawMode?.(true);
    stdout.write(PASTE_ON);
    stdout.on?.("resize", resized);
    const dispose = this.#host.onInterrupt(() => this.#interrupt());
    const keys = this.#readKeys();
    try {
      await chat.welcome();
      await chat.follow();
    } finally {
      dispose();
      keys.end();
      stdout.off?.("resize", resized);
      this.#screen.close();
      stdout.write(PASTE_OFF);
      stdin.setRawMode?.(false);
    }
    return this.#wasInterrupted;
  }

  event(event: SessionEvent): void {
    this.#printer.event(event);
  }

  delta(delta: Delta): void {
    this.#printer.delta(delta);
  }

  prompt(who: string | null, text: string): void {
    const mark = who === null ? "› " : `${safeLine(who)} › `;
    const lines = safeText(text).trimEnd().split("\n");
    this.print([
      "",
      ...lines.map((line, at) => this.#style.bold(at === 0 ? mark + line : `  ${line}`)),
    ]);
  }

  end(prompt: Prompt): void {
    // A withdrawn or merged prompt was never shown. A completed turn has ended its own line, and the next one
    // may be writing by now.
    if (!SILENT_OUTCOMES.has(prompt.outcome ?? "")) this.#printer.end(prompt);
  }

  note(text: string): void {
    this.#printer.note(text);
  }

  print(lines: readonly string[]): void {
    this.#printer.lines(lines);
  }

  pageRows(): number {
    return Math.max(MIN_PAGE_ROWS, (this.#host.stdout.rows ?? DEFAULT_ROWS) - FOOTER_ROWS);
  }

  changed(): void {
    this.#focusPending();
    this.#screen.refresh();
  }

  /** Typed text belongs to the approval that was shown while typing, never to another one. */
  #focusPending(): void {
    const front = this.#chat?.asks.front?.id;
    if (front === this.#shownApproval) return;
    if (this.#shownApproval === undefined) this.#interruptedLine = this.#line;
    this.#shownApproval = front;
    this.#line = front === undefined ? (this.#interruptedLine ?? EMPTY_LINE) : EMPTY_LINE;
  }

  #footer(columns: number) {
    const chat = this.#chat;
    if (!chat) return { rows: [], cursor: { row: 0, column: 0 } };
    return drawFooter({
      waiting: chat.waiting(),
      status: statusLine(chat.status(), columns),
      asked: chat.asks.summary,
      label: chat.asks.label ?? "›",
      line: this.#line,
      columns,
      style: this.#style,
    });
  }

  #readKeys(): { end(): void } {
    const keys = new PassThrough();
    emitKeypressEvents(keys);
    keys.on("keypress", (letter: string | undefined, key: Key) => this.#press(letter, key));
    const pour = async () => {
      for await (const chunk of this.#host.stdin) {
        if (keys.writableEnded) return;
        keys.write(chunk);
      }
      // The terminal was closed.
      this.#chat?.leave();
    };
    pour().catch(() => this.#chat?.leave());
    return { end: () => keys.end() };
  }

  #press(letter: string | undefined, key: Key): void {
    const chat = this.#chat;
    if (!chat || chat.hasLeft) return;
    const typed = pressKey(this.#line, letter, key, chat.history);
    if (typed.type !== "interrupted") chat.calmDown();
    switch (typed.type) {
      case "edited":
        this.#line = typed.line;
        this.#screen.refresh();
        break;
      case "submitted":
        this.#submit(chat, typed.text);
        break;
      case "interrupted":
        this.#interrupt();
        break;
      case "redraw":
        this.#screen.clear();
        break;
      case "left":
        chat.leave();
        break;
    }
  }

  #submit(chat: Chat, text: string): void {
    this.#line = EMPTY_LINE;
    this.#screen.refresh();
    if (text.trim() === "" && !chat.asks.hasMore) return;
    const isAnswer = this.#shownApproval !== undefined && !text.startsWith("/");
    void (isAnswer ? chat.answer(text) : chat.submit(text));
  }

  #interrupt(): void {
    const chat = this.#chat;
    if (!chat || chat.hasLeft) return;
    if (this.#line.text !== "") {
      this.#line = EMPTY_LINE;
      this.#screen.refresh();
    }
    if (!chat.interrupt()) return;
    this.#wasInterrupted = true;
    chat.leave();
  }
}
