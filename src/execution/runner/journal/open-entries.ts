/**
 * Closes what a turn leaves open at its end: text that was shown but not journaled, and calls
 * without a result.
 */

import { INTERRUPTED } from "#execution/runtimes/runtime.ts";
import type { JournalItem } from "#protocol/events.ts";
import type { OpenEntry } from "./delta-stream.ts";

type PreTool = Extract<JournalItem, { type: "pre_tool" }>;

export class OpenCalls {
  readonly #open = new Map<string, PreTool>();

  constructor(journaled: readonly JournalItem[]) {
    this.note(journaled);
  }

  note(items: readonly JournalItem[]): void {
    for (const item of items) {
      if (item.type === "pre_tool") this.#open.set(item.callId, item);
      else if (item.type === "post_tool") this.#open.delete(item.callId);
    }
  }

  list(): PreTool[] {
    return [...this.#open.values()];
  }
}

/** Answers open calls as interrupted: models refuse a history with a call without a result. */
export function answerOpenCalls(calls: OpenCalls, ids: { entryId(): string }): JournalItem[] {
  return calls.list().map(({ callId, tool, input, step }) => ({
    type: "post_tool",
    entryId: ids.entryId(),
    callId,
    tool,
    input,
    output: null,
    error: INTERRUPTED,
    ...(step === undefined ? {} : { step }),
  }));
}

export function keepPartials(entries: readonly OpenEntry[]): JournalItem[] {
  return entries.flatMap(({ entryId, kind, text }) =>
    kind === "tool_call" || text === ""
      ? []
      : [{ type: "message" as const, entryId, kind, text, partial: true }],
  );
}
