/**
 * Sends one turn's items to the server's log. Items are numbered from 1 for each (run, fence). One
 * batch is sent at a time and everything appended meanwhile goes into the next, so a slow link
 * costs latency, not frames. A batch may be sent twice: the server recognises its numbers.
 */
import { Refusal } from "#base/refusal.ts";
import type { LeaseLost, Verdicts } from "#execution/runtimes/runtime.ts";
import { JOURNAL_PIECE } from "#protocol/bounds.ts";
import type { JournalItem } from "#protocol/events.ts";
import { roughSize } from "#protocol/rough-size.ts";
import {
  type BatchExtra,
  fitsFrame,
  framesOf,
  isLean,
  type JournalBatch,
} from "./journal-batch.ts";

/** Larger items would not fit a frame once they are encoded. */
const ITEM_CHARS = 3_500_000;
/** A runtime that appends without waiting is stopped here, before it fills the memory. */
const WAITING_CHARS = 32_000_000;
const WAITING_ITEMS = 20_000;

/** Resolves when the batch is durable. Rejects with `LeaseLost`, or a `Refusal` of its content. */
export type SendBatch = (batch: JournalBatch) => Promise<Verdicts>;

interface PendingAppend extends BatchExtra {
  items: JournalItem[];
  chars: number;
  resolve(verdicts: Verdicts): void;
  reject(error: Error): void;
}

export class JournalOutbox {
  readonly #send: SendBatch;
  #waiting: PendingAppend[] = [];
  #waitingChars = 0;
  #waitingItems = 0;
  #nextOrdinal = 1;
  #sending = false;
  #closedBy: Error | null = null;
  #idleWaiters: (() => void)[] = [];

  constructor(send: SendBatch) {
    this.#send = send;
  }

  append(items: JournalItem[], extra: BatchExtra = {}): Promise<Verdicts> {
    if (this.#closedBy) return Promise.reject(this.#closedBy);
    let chars = 0;
    for (const item of items) {
      // Checked first, because a value that is nested very deep cannot even be measured.
      if (!isLean(item)) return Promise.reject(tooFull(item));
      const itemChars = roughSize(item);
      if (itemChars > ITEM_CHARS || !fitsFrame(item, itemChars))
        return Promise.reject(tooLarge(item, itemChars));
      chars += itemChars;
    }
    if (!extra.settle && !extra.park && this.#isFull(items.length, chars)) {
      return Promise.reject(
        new Error("The journal is full: wait for append before appending more."),
      );
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ items, chars, ...extra, resolve, reject });
      this.#waitingChars += chars;
      this.#waitingItems += items.length;
      if (!this.#sending) void this.#sendWaiting();
    });
  }

  /** Accepts no more items; waiting ones are still sent. */
  close(reason: Error): void {
    this.#closedBy ??= reason;
  }

  /** Rejects all waiting items, because the run is gone. */
  fail(reason: LeaseLost): void {
    this.#closedBy ??= reason;
    const posts = this.#waiting;
    this.#waiting = [];
    for (const post of posts) post.reject(reason);
    this.#announceIdle();
  }

  /** Resolves when no item is waiting or being sent. */
  idle(): Promise<void> {
    if (!this.#sending && this.#waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  #isFull(items: number, chars: number): boolean {
    return this.#waitingItems + items > WAITING_ITEMS || this.#waitingChars + chars > WAITING_CHARS;
  }

  async #sendWaiting(): Promise<void> {
    this.#sending = true;
    while (this.#waiting.length > 0) {
      const posts = this.#takeBatch();
      await this.#sendPosts(posts);
    }
    this.#sending = false;
    this.#announceIdle();
  }

  async #sendPosts(posts: PendingAppend[]): Promise<void> {
    const batch: JournalBatch = {
      firstOrdinal: this.#nextOrdinal,
      items: posts.flatMap((post) => post.items),
    };
    for (const { bind, settle, park } of posts) {
      if (bind) batch.bind = bind;
      if (settle) batch.settle = settle;
      if (park) batch.park = park;
    }
    const chars = posts.reduce((sum, post) => sum + post.chars, 0);
    try {
      const verdicts = await this.#sendFrames(framesOf(batch, chars));
      for (const post of posts) post.resolve(verdicts);
    } catch (error) {
      for (const post of posts) post.reject(error as Error);
    }
  }

  async #sendFrames(frames: readonly JournalBatch[]): Promise<Verdicts> {
    let verdicts: Verdicts = {};
    for (const frame of frames) {
      this.#nextOrdinal = frame.firstOrdinal + frame.items.length;
      try {
        verdicts = { ...verdicts, ...(await this.#send(frame)) };
      } catch (error) {
        // A refused frame was not stored, so its numbers are free again.
        if (error instanceof Refusal) this.#nextOrdinal = frame.firstOrdinal;
        throw error;
      }
    }
    return verdicts;
  }

  /** Takes no more than the server writes in one transaction: all of it is stored, or nothing. */
  #takeBatch(): PendingAppend[] {
    let count = 0;
    let items = 0;
    let chars = 0;
    for (const post of this.#waiting) {
      items += post.items.length;
      chars += post.chars;
      if (count > 0 && (items > JOURNAL_PIECE.items || chars > JOURNAL_PIECE.chars)) break;
      count++;
    }
    const posts = this.#waiting.splice(0, count);
    for (const post of posts) {
      this.#waitingChars -= post.chars;
      this.#waitingItems -= post.items.length;
    }
    return posts;
  }

  #announceIdle(): void {
    const waiters = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of waiters) resolve();
  }
}

function tooLarge(item: JournalItem, chars: number): Refusal {
  const what = `A ${item.type} item of about ${chars} characters`;
  return new Refusal(
    "too_large",
    "journal_item_too_large",
    `${what} does not fit the journal: shorten it first.`,
  );
}

function tooFull(item: JournalItem): Refusal {
  return new Refusal(
    "too_large",
    "journal_item_too_large",
    `A ${item.type} item is nested too deep for the journal, or has too many values: flatten or shorten it first.`,
  );
}
