/**
 * Prints a turn on a terminal as it comes. The agent's text goes to standard output, with forwarded text and
 * the final result; everything else (reasoning, tool calls, notices) goes to standard error, so that
 * redirected output is only the reply.
 *
 * Printed text cannot be taken back. Each entry therefore records the text on the screen: text that continues
 * it is appended, text that contradicts it is printed again on a new line.
 */
import type { Delta, SessionEvent } from "#protocol/events.ts";
import type { Prompt } from "#protocol/sessions.ts";
import { COMPLETE_SESSION } from "#protocol/tools.ts";
import type { CliHost, Output } from "#surfaces/cli/kit/host.ts";
import {
  columnsOf,
  safeLine,
  safeText,
  shorten,
  styleFor,
} from "#surfaces/cli/kit/text/terminal.ts";
import { forwardedFrom } from "../chat/compact.ts";
import type { TurnView } from "./turn-view.ts";

interface Draft {
  /** All text received so far. */
  held: string;
  /** All text on the screen. */
  printed: string;
}

/** Calls with a plain description instead of the tool's name. */
const TOOL_WORDS = new Map([["wait_for_event", "waiting for agents"]]);

export type PrinterHost = Pick<CliHost, "stdout" | "stderr" | "env">;

export class TurnPrinter implements TurnView {
  readonly #host: PrinterHost;
  readonly #style;
  readonly #drafts = new Map<string, Draft>();
  readonly #calls = new Set<string>();
  /** Results that the agent passes in a call, printed when the call was performed. */
  readonly #results = new Map<string, string>();
  /** Entry being written, and whether the cursor is at the start of a line. */
  #open: { entryId: string; output: Output; atLineStart: boolean } | undefined;

  constructor(host: PrinterHost) {
    this.#host = host;
    this.#style = styleFor(host.stderr, host.env);
  }

  delta({ entryId, kind, offset, text }: Delta): void {
    if (kind === "tool_call") return;
    const draft = this.#draft(entryId);
    if (offset !== 0 && offset !== draft.held.length) return;
    draft.held = offset === 0 ? text : draft.held + text;
    this.#show(entryId, kind, draft, withoutHalfLetter(draft.held));
  }

  event(event: SessionEvent): void {
    switch (event.type) {
      case "message":
        this.#message(event);
        break;
      case "pre_tool":
        this.#call(event);
        break;
      case "post_tool":
        this.#result(event);
        break;
      case "notice":
        this.#notice(event);
        break;
      case "gate_opened":
        this.#showGate(event);
        break;
      case "gate_closed":
        this.note(event.data?.allowed === true ? "Allowed." : "Not allowed.");
        break;
      case "run_parked":
        if (event.reason === "pause")
          this.note(`${String(event.data?.message)} It continues at ${String(event.data?.until)}.`);
        break;
      case "run_lost":
        this.#drafts.clear();
        this.note("The runner was lost. Another one continues the turn.");
        break;
    }
  }

  #showGate({ data }: SessionEvent): void {
    const id = String(data?.gateId);
    const ways: Record<string, string> = {
      question: `answer ${id} "…"`,
      plan: `show ${id} (then allow, revise or deny)`,
    };
    const how = ways[String(data?.kind)] ?? `show ${id} (then allow or deny)`;
    this.note(`Waiting for your answer: muster approvals ${how}, or answer on the web page.`);
  }

  /** Text forwarded from another session is part of the reply. */
  #notice(event: SessionEvent): void {
    const text = textOf(event);
    const from = forwardedFrom(event);
    if (from === null) this.note(text || (event.reason ?? ""));
    else {
      this.note(`${from} says:`);
      this.#printReply(text);
    }
  }

  #printReply(text: string): void {
    this.#close();
    this.#host.stdout.write(safeText(text.endsWith("\n") ? text : `${text}\n`));
  }

  note(text: string): void {
    this.#line(this.#style.dim(`· ${shorten(safeLine(text), 2_000)}`));
  }

  end(prompt: Prompt): void {
    this.#close();
    if (prompt.outcome === "completed") return;
    const why = prompt.error ? `: ${prompt.error.message} [${prompt.error.code}]` : ".";
    this.#line(this.#style.red(safeText(`The turn ended as ${prompt.outcome ?? "unknown"}${why}`)));
  }

  #message(event: SessionEvent): void {
    if (event.role !== "assistant" || event.entryId === null) return;
    const kind = event.kind === "reasoning" ? "reasoning" : "text";
    const text = textOf(event);
    this.#show(event.entryId, kind, this.#draft(event.entryId), text);
    if (event.data?.partial === true) this.note("cut here");
    this.#close();
    this.#drafts.delete(event.entryId);
  }

  #call(event: SessionEvent): void {
    const id = callIdOf(event);
    if (this.#calls.has(id)) return;
    this.#calls.add(id);
    const { summary } = (event.toolInput ?? {}) as { summary?: unknown };
    if (event.toolName === COMPLETE_SESSION && typeof summary === "string")
      this.#results.set(id, summary);
    const input = shorten(safeLine(inputText(event.toolInput)), 1_000);
    const line = shorten(
      `${TOOL_WORDS.get(event.toolName ?? "") ?? safeLine(event.toolName ?? "tool")} ${input}`.trimEnd(),
      columnsOf(this.#host.stderr) - 3,
    );
    this.#line(this.#style.dim(`→ ${line}`));
  }

  #result(event: SessionEvent): void {
    this.#call(event);
    const failed = event.error ?? (event.exitCode ? `exit code ${event.exitCode}` : null);
    if (failed === null) {
      const result = this.#results.get(callIdOf(event));
      if (result !== undefined) this.#printReply(result);
      return;
    }
    this.#line(
      this.#style.red(`  ✗ ${shorten(safeLine(failed), columnsOf(this.#host.stderr) - 5)}`),
    );
  }

  #draft(entryId: string): Draft {
    const known = this.#drafts.get(entryId);
    if (known) return known;
    const draft = { held: "", printed: "" };
    this.#drafts.set(entryId, draft);
    return draft;
  }

  /** Brings the screen up to `text`. */
  #show(entryId: string, kind: "text" | "reasoning", draft: Draft, text: string): void {
    if (draft.printed.startsWith(text)) return;
    const continues = text.startsWith(draft.printed);
    if (!continues) this.#close();
    const fresh = continues ? text.slice(draft.printed.length) : text;
    draft.printed = text;
    const isAnswer = kind === "text";
    const output = isAnswer ? this.#host.stdout : this.#host.stderr;
    if (this.#open?.entryId !== entryId) this.#close();
    this.#open ??= { entryId, output, atLineStart: true };
    this.#open.atLineStart = fresh.endsWith("\n");
    if (isAnswer) output.write(safeText(fresh));
    else output.write(this.#style.dim(safeText(fresh)));
  }

  #close(): void {
    if (this.#open && !this.#open.atLineStart) this.#open.output.write("\n");
    this.#open = undefined;
  }

  /** Prints lines about the turn, already without terminal control characters. */
  lines(lines: readonly string[]): void {
    this.#close();
    if (lines.length > 0) this.#host.stderr.write(`${lines.join("\n")}\n`);
  }

  #line(text: string): void {
    this.lines([text]);
  }
}

function callIdOf({ data, entryId }: SessionEvent): string {
  return String(data?.callId ?? entryId);
}

/** Offsets count UTF-16 units, so a piece may end in the middle of a character. */
function withoutHalfLetter(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}

export function textOf(event: Pick<SessionEvent, "content">): string {
  return (event.content ?? [])
    .map((block) => (typeof block.text === "string" ? block.text : ""))
    .join("");
}

/** Returns the field that describes the call, if there is one; otherwise all of its input. */
export function inputText(input: unknown): string {
  if (input === null || input === undefined) return "";
  if (typeof input === "string") return input;
  const fields = Object.values(input as Record<string, unknown>);
  if (fields.length === 0) return "";
  if (fields.length === 1 && typeof fields[0] === "string") return fields[0];
  return JSON.stringify(input);
}
