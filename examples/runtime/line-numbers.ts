/**
 * A runtime without a model: it answers with the lines of the prompt, numbered, one entry a line.
 * It shows what every runtime owes its runner: ask before each step, journal what was written,
 * continue behind the journal of a lost attempt, and wind down when it is stopped.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Runtime, Turn, TurnEnd } from "#execution/runtimes/runtime.ts";
import type { JournalItem } from "#protocol/events.ts";

type Message = Extract<JournalItem, { type: "message" }>;

export interface LineNumbersOptions {
  /** Pause after each word, so that a person can watch it write. */
  pauseMs?: number;
}

export function createLineNumbersRuntime({ pauseMs = 50 }: LineNumbersOptions = {}): Runtime {
  return { name: "line-numbers", runTurn: (turn) => numberLines(turn, pauseMs) };
}

async function numberLines(turn: Turn, pauseMs: number): Promise<TurnEnd> {
  const lines = turn.assignment.content.split("\n");
  // One entry a line: as many lines are done as the journal has entries.
  const written = turn.journaled.filter((item) => item.type === "message");
  let result = written.at(-1)?.text ?? "";
  for (const [index, line] of [...lines.entries()].slice(written.length)) {
    // Rejects when another runner has taken over; that rejection may pass through.
    await turn.step();
    if (turn.signal.aborted) return { outcome: "aborted" };
    const message = await writeLine(turn, `${index + 1}. ${line}`, pauseMs);
    if (message.partial) return { outcome: "aborted", items: [message] };
    result = message.text;
    // The last item is stored together with the outcome, in one transaction.
    if (index === lines.length - 1) return { outcome: "completed", result, items: [message] };
    await turn.append(message);
  }
  // An earlier attempt wrote every line and was lost before its end.
  return { outcome: "completed", result };
}

/** Shows a line word by word. A line that is cut short is marked as partial. */
async function writeLine(turn: Turn, line: string, pauseMs: number) {
  const message: Message = { type: "message", entryId: turn.entryId(), kind: "text", text: "" };
  for (const word of line.split(/(?<= )/)) {
    turn.delta({ entryId: message.entryId, kind: "text", text: word });
    message.text += word;
    await sleep(pauseMs);
    if (turn.signal.aborted) break;
  }
  return message.text === line ? message : { ...message, partial: true };
}
