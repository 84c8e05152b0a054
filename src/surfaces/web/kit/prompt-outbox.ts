/**
 * Prompts on their way to the server. Each is kept in the browser's storage until the server has
 * answered, so that a reload or an outage loses none; its dispatch id makes every further attempt the
 * same prompt. Prompts of one session are sent in the order in which they were written.
 */
import type { QueueMode } from "#protocol/sessions.ts";
import { isRecord } from "./api-client.ts";

export interface UnsentPrompt {
  dispatchId: string;
  sessionId: string;
  content: string;
  mode: QueueMode;
  /** When it was written, in epoch milliseconds. */
  at: number;
}

export interface OutboxItem extends UnsentPrompt {
  /** Why it is not sent yet; null while it is being sent. */
  problem: string | null;
  /** True: the server refused it, or it is too old to be sent without asking. */
  isStuck: boolean;
}

/** `lost`: no answer, so it is sent again. `refused`: the server does not take it. */
export type SendResult =
  | { is: "sent" }
  | { is: "lost"; why: string }
  | { is: "refused"; error: Error };

export interface OutboxOptions {
  storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  key: string;
  send: (prompt: UnsentPrompt) => Promise<SendResult>;
  now: () => number;
  setTimer: (run: () => void, afterMs: number) => unknown;
  clearTimer: (timer: unknown) => void;
}

const FIRST_RETRY_MS = 600;
const LONGEST_RETRY_MS = 15_000;
/** An older prompt may have been overtaken by events: its person decides. */
const MAX_AGE_MS = 24 * 60 * 60_000;
const TOO_OLD = "Written more than a day ago and never sent.";
const NOTHING: readonly OutboxItem[] = [];

export class PromptOutbox {
  readonly #options: OutboxOptions;
  readonly #listeners = new Set<() => void>();
  readonly #waiting = new Map<string, (error: Error | undefined) => void>();
  /** Sessions whose first prompt is being sent. */
  readonly #busy = new Set<string>();
  /** Ids that this tab has kept at some time; what is gone from its list is done with. */
  readonly #known = new Set<string>();
  #bySession = new Map<string, readonly OutboxItem[]>();
  #failures = 0;
  #retry: unknown;
  #isStopped = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    for (const prompt of this.#read()) {
      this.#known.add(prompt.dispatchId);
      const isOld = options.now() - prompt.at > MAX_AGE_MS;
      this.#put({ ...prompt, problem: isOld ? TOO_OLD : null, isStuck: isOld });
    }
  }

  onChange = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  items(sessionId: string): readonly OutboxItem[] {
    return this.#bySession.get(sessionId) ?? NOTHING;
  }

  /** Resolves with the server's refusal, or with undefined once it was sent or discarded. */
  add(prompt: UnsentPrompt): Promise<Error | undefined> {
    const answered = new Promise<Error | undefined>((resolve) => {
      this.#waiting.set(prompt.dispatchId, resolve);
    });
    this.#put({ ...prompt, problem: null, isStuck: false });
    this.#save();
    void this.#sendNext(prompt.sessionId);
    return answered;
  }

  /** Tries what is stuck again, on somebody's word. */
  retry({ sessionId, dispatchId }: UnsentPrompt): void {
    const item = this.items(sessionId).find((one) => one.dispatchId === dispatchId);
    if (!item) return;
    this.#put({ ...item, problem: null, isStuck: false });
    void this.#sendNext(sessionId);
  }

  discard({ sessionId, dispatchId }: UnsentPrompt): void {
    this.#remove(sessionId, dispatchId);
    this.#answer(dispatchId, undefined);
    void this.#sendNext(sessionId);
  }

  /** Sends everything that waits now: the server can be reached again, or the page was opened. */
  wake(): void {
    this.#options.clearTimer(this.#retry);
    for (const sessionId of this.#bySession.keys()) void this.#sendNext(sessionId);
  }

  stop(): void {
    this.#isStopped = true;
    this.#options.clearTimer(this.#retry);
  }

  async #sendNext(sessionId: string): Promise<void> {
    if (this.#busy.has(sessionId) || this.#isStopped) return;
    this.#busy.add(sessionId);
    try {
      for (;;) {
        const item = this.items(sessionId).find(({ isStuck }) => !isStuck);
        if (!item || !(await this.#sendOne(item))) return;
      }
    } finally {
      this.#busy.delete(sessionId);
    }
  }

  /** False: the server is away, and it is tried again later. */
  async #sendOne(item: OutboxItem): Promise<boolean> {
    const { problem: _, isStuck: __, ...prompt } = item;
    const result = await this.#options.send(prompt);
    if (this.#isStopped) return false;
    if (result.is === "lost") {
      this.#replace({ ...item, problem: result.why });
      this.#tryLater();
      return false;
    }
    this.#failures = 0;
    if (result.is === "sent") this.#remove(item.sessionId, item.dispatchId);
    else this.#replace({ ...item, problem: result.error.message, isStuck: true });
    this.#answer(item.dispatchId, result.is === "sent" ? undefined : result.error);
    return true;
  }

  #tryLater(): void {
    const waitMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#options.clearTimer(this.#retry);
    this.#retry = this.#options.setTimer(() => this.wake(), waitMs);
  }

  #answer(dispatchId: string, error: Error | undefined): void {
    this.#waiting.get(dispatchId)?.(error);
    this.#waiting.delete(dispatchId);
  }

  /** Changes an item that is still there: it may have been discarded while it was being sent. */
  #replace(item: OutboxItem): void {
    const isThere = this.items(item.sessionId).some(
      ({ dispatchId }) => dispatchId === item.dispatchId,
    );
    if (isThere) this.#put(item);
  }

  #put(item: OutboxItem): void {
    const list = this.items(item.sessionId);
    const at = list.findIndex(({ dispatchId }) => dispatchId === item.dispatchId);
    this.#set(item.sessionId, at < 0 ? [...list, item] : list.with(at, item));
  }

  #remove(sessionId: string, dispatchId: string): void {
    this.#set(
      sessionId,
      this.items(sessionId).filter((item) => item.dispatchId !== dispatchId),
    );
    this.#save();
  }

  #set(sessionId: string, list: readonly OutboxItem[]): void {
    if (list.length === 0) this.#bySession.delete(sessionId);
    else this.#bySession.set(sessionId, list);
    for (const listener of this.#listeners) listener();
  }

  /** Another tab may keep prompts of its own under the same key: only what is known here is changed. */
  #save(): void {
    const { storage, key } = this.#options;
    const own = [...this.#bySession.values()].flat();
    const ownIds = new Set(own.map(({ dispatchId }) => dispatchId));
    const others = this.#read().filter(
      ({ dispatchId }) => !ownIds.has(dispatchId) && !this.#known.has(dispatchId),
    );
    for (const id of ownIds) this.#known.add(id);
    const all = [...others, ...own.map(({ problem: _, isStuck: __, ...prompt }) => prompt)];
    try {
      if (all.length === 0) storage.removeItem(key);
      else storage.setItem(key, JSON.stringify(all));
    } catch {
      // Full or forbidden: it is still kept until the page is left.
    }
  }

  #read(): UnsentPrompt[] {
    try {
      const kept: unknown = JSON.parse(this.#options.storage.getItem(this.#options.key) ?? "[]");
      return Array.isArray(kept) ? kept.filter(isUnsent) : [];
    } catch {
      return [];
    }
  }
}

function isUnsent(value: unknown): value is UnsentPrompt {
  if (!isRecord(value)) return false;
  const { dispatchId, sessionId, content, mode, at } = value;
  return (
    [dispatchId, sessionId, content, mode].every((one) => typeof one === "string") &&
    typeof at === "number"
  );
}
