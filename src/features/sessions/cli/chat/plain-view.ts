/**
 * A conversation without a terminal. Plain: the agent's text on standard output, all else on standard error.
 * For programs: the events of the log as JSON lines, and each of the person's prompts when it has settled.
 */
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { Refusal } from "#base/refusal.ts";
import type { Prompt } from "#protocol/sessions.ts";
import { EXIT } from "#surfaces/cli/kit/exit-codes.ts";
import type { CliHost } from "#surfaces/cli/kit/host.ts";
import { jsonText, safeLine, styleFor } from "#surfaces/cli/kit/text/terminal.ts";
import { TurnPrinter } from "../turn/turn-printer.ts";
import type { Chat } from "./chat.ts";
import type { ChatView } from "./chat-view.ts";

/** `changed` is called at every change. */
export function createPlainView(host: CliHost, changed: () => void): ChatView {
  let printer = new TurnPrinter(host);
  const style = styleFor(host.stderr, host.env);
  return {
    begin: () => {
      printer = new TurnPrinter(host);
    },
    event: (event) => printer.event(event),
    delta: (delta) => printer.delta(delta),
    prompt: (who, text) => {
      if (who !== null) printer.lines([style.dim(`${safeLine(who)} › ${safeLine(text)}`)]);
    },
    end: (prompt) => printer.end(prompt),
    note: (text) => printer.note(text),
    print: (lines) => printer.lines(lines),
    changed,
  };
}

export function createJsonView({ stdout, stderr }: CliHost, changed: () => void): ChatView {
  const line = (value: unknown) => void stdout.write(`${jsonText(value)}\n`);
  const about = (text: string) => void stderr.write(`${text}\n`);
  return {
    begin: () => {},
    raw: line,
    event: () => {},
    delta: () => {},
    prompt: () => {},
    end: (prompt: Prompt) => line({ prompt }),
    note: about,
    print: (lines) => about(lines.join("\n")),
    changed,
  };
}

/**
 * Reads lines to their end, each a prompt or a command, and waits until the prompts have settled; with
 * `isPatient` also until delegated work has come back. A line answers an approval only by an explicit
 * command: text written beforehand approves nothing.
 */
export async function talkInLines(
  host: CliHost,
  chat: Chat,
  onChange: (listener: () => void) => void,
  isPatient: boolean,
): Promise<number> {
  let wasInterrupted = false;
  const dispose = host.onInterrupt(() => {
    wasInterrupted = true;
    if (chat.interrupt()) chat.leave();
  });
  const following = chat.follow();
  try {
    await Promise.race([following, readLines(host, chat)]);
    await Promise.race([following, untilSettled(chat, onChange, isPatient)]);
  } finally {
    dispose();
    chat.leave();
    await following;
  }
  return wasInterrupted ? EXIT.interrupted : exitOf(chat);
}

async function readLines(host: CliHost, chat: Chat): Promise<void> {
  for await (const line of createInterface({ input: Readable.from(host.stdin) })) {
    if (chat.hasLeft) return;
    await chat.submit(line);
  }
}

function untilSettled(
  chat: Chat,
  onChange: (listener: () => void) => void,
  isPatient: boolean,
): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      const isSettled = chat.outcomes().every((prompt) => prompt !== undefined);
      if (isSettled && !(isPatient && chat.isDelegated)) resolve();
    };
    onChange(look);
    look();
  });
}

function exitOf(chat: Chat): number {
  const outcomes = chat.outcomes();
  if (outcomes.length === 0 && chat.mistakes === 0 && !chat.hasActed)
    throw new Refusal(
      "invalid",
      "wrong_usage",
      "No prompt was given. Pipe in one line per prompt.",
    );
  if (chat.mistakes > 0) return EXIT.refused;
  return outcomes.every((prompt) => prompt?.outcome === "completed") ? EXIT.ok : EXIT.failed;
}
