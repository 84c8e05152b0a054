/**
 * The live view of what one turn is writing. Deltas are hints: they may be skipped when the link is
 * down or slow, because every entry is resent whole from time to time and its journal item has the
 * full text in the end. The first piece of an entry is sent at once, later ones are batched.
 */
import type { Clock } from "#base/clock.ts";
import { MAX_DELTA_TOOL_CHARS } from "#protocol/bounds.ts";
import type { Delta, DeltaPiece } from "#protocol/events.ts";

const GATHER_MS = 50;
const RESEND_WHOLE_MS = 2000;

export interface OpenEntry {
  readonly entryId: string;
  kind: Delta["kind"];
  toolName: string | undefined;
  text: string;
  /** Length of text that the server has, if nothing was skipped. */
  sentLength: number;
  sentAt: number;
  wholeAt: number;
}

export type SendDelta = (delta: Omit<Delta, "thread">) => boolean;

export class DeltaStream {
  readonly #send: SendDelta;
  readonly #clock: Clock;
  readonly #open = new Map<string, OpenEntry>();
  readonly #closed = new Set<string>();
  #flushScheduled = false;

  constructor(send: SendDelta, clock: Clock) {
    this.#send = send;
    this.#clock = clock;
  }

  /** A call shows its tool's name before any of its arguments; other empty pieces are dropped. */
  push({ entryId, kind, toolName, text }: DeltaPiece): void {
    if (this.#closed.has(entryId)) return;
    const now = this.#clock.now();
    const name = toolName?.slice(0, MAX_DELTA_TOOL_CHARS);
    let entry = this.#open.get(entryId);
    if (text === "" && (name === undefined || entry?.toolName === name)) return;
    if (!entry) {
      const sent = { sentLength: 0, sentAt: -Infinity, wholeAt: now };
      entry = { entryId, kind, toolName: undefined, text: "", ...sent };
      this.#open.set(entryId, entry);
    }
    entry.kind = kind;
    // A request that was made again may call another tool in the same place.
    entry.toolName = name ?? entry.toolName;
    entry.text += text;
    const waitMs = entry.sentAt + GATHER_MS - now;
    if (waitMs <= 0) this.#flush(entry, now);
    else this.#scheduleFlush(waitMs);
  }

  /** Takes back what was shown; the next piece begins the entry again. */
  retract(entryId: string): void {
    const entry = this.#open.get(entryId);
    if (!entry) return;
    entry.text = "";
    entry.sentLength = 0;
    this.#flush(entry, this.#clock.now());
  }

  /** Called when the entry's journal item is about to be sent, which supersedes unsent deltas. */
  close(entryId: string): void {
    this.#closed.add(entryId);
    this.#open.delete(entryId);
  }

  /** Resends entries whole from time to time, so that late and lossy readers catch up. */
  resendWhole(now: number): void {
    for (const entry of this.#open.values()) {
      if (now - entry.wholeAt < RESEND_WHOLE_MS) continue;
      entry.sentLength = 0;
      this.#flush(entry, now);
    }
  }

  /** Ends the stream and returns the entries that were shown but never journaled. */
  end(): OpenEntry[] {
    const left = [...this.#open.values()];
    for (const entry of left) this.close(entry.entryId);
    return left;
  }

  #flush(entry: OpenEntry, now: number): void {
    const offset = entry.sentLength;
    const { entryId, kind, toolName, text } = entry;
    const sent = this.#send({
      entryId,
      kind,
      ...(toolName === undefined ? {} : { toolName }),
      offset,
      text: offset === 0 ? text : text.slice(offset),
    });
    entry.sentAt = now;
    entry.sentLength = sent ? text.length : 0;
    if (offset === 0) entry.wholeAt = now;
  }

  #scheduleFlush(waitMs: number): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    void this.#clock.sleep(waitMs).then(() => {
      this.#flushScheduled = false;
      const now = this.#clock.now();
      for (const entry of this.#open.values()) {
        if (entry.text.length === entry.sentLength) continue;
        const remainingMs = entry.sentAt + GATHER_MS - now;
        if (remainingMs <= 0) this.#flush(entry, now);
        else this.#scheduleFlush(remainingMs);
      }
    });
  }
}
