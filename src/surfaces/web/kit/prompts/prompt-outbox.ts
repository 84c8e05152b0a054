/**
 * Prompts on their way to the server. Each is kept in the browser's storage until the server has
 * answered, so that a reload or an outage loses none; its dispatch id makes every further attempt the
 * same prompt. Prompts of one session are sent in the order of writing. All tabs of the person share the
 * storage: an item that is no longer in it was sent or discarded elsewhere.
 */
import { type KeptPrompts, promptOf, type UnsentPrompt } from "./kept-prompts.ts";

export interface OutboxItem extends UnsentPrompt {
  /** Reason why the prompt is not sent yet; null while it is being sent. */
  problem: string | null;
  /** True if the server refused the prompt, or if it is too old to be sent without asking. */
  isStuck: boolean;
  /** True if the server asked for time (429); the prompt is sent automatically after that. */
  isBusy: boolean;
}

/**
 * `lost`: no answer, so it is sent again. `failed`: the server answered with an error of its own (5xx).
 * `busy`: it accepts no more for this long (429). `not_signed_in`: the sign-in has ended or is somebody
 * else's; the prompt stays in the storage until its person is back. `refused`: it is not accepted.
 */
export type SendResult =
  | { is: "sent" }
  | { is: "lost"; why: string }
  | { is: "failed"; error: Error }
  | { is: "busy"; why: string; afterMs: number }
  | { is: "not_signed_in"; why: string }
  | { is: "refused"; error: Error };

export interface OutboxOptions {
  kept: KeptPrompts;
  send: (prompt: UnsentPrompt) => Promise<SendResult>;
  /** Resolves to true when the server answers other requests of this person. */
  isServerWell: () => Promise<boolean>;
  now: () => number;
  setTimer: (run: () => void, afterMs: number) => unknown;
  clearTimer: (timer: unknown) => void;
}

const FIRST_RETRY_MS = 600;
const MAX_RETRY_MS = 15_000;
/** Upper limit: a server or proxy may name any time, and asking earlier does no harm. */
const MAX_BUSY_MS = 5 * 60_000;
/** Number of failures after which a prompt counts as refused, unless the server fails at everything. */
const MAX_FAILURES = 5;
/** Older prompts may be out of date: their person decides. */
const MAX_AGE_MS = 24 * 60 * 60_000;
const TOO_OLD = "Written more than a day ago and not sent.";
const NOTHING: readonly OutboxItem[] = [];

/** Pause between two attempts of one session. */
interface Pause {
  attempts: number;
  timer: unknown;
  /** The server's "retry after" time. */
  notBefore: number;
}

export class PromptOutbox {
  readonly #options: OutboxOptions;
  readonly #listeners = new Set<() => void>();
  readonly #waiting = new Map<string, (error: Error | undefined) => void>();
  /** Sessions whose first prompt is being sent. */
  readonly #busy = new Set<string>();
  /** Ids that were in the storage: one that is gone was sent or discarded by some tab. */
  readonly #stored = new Set<string>();
  /** Number of server failures (5xx) of a prompt, by dispatch id. */
  readonly #failures = new Map<string, number>();
  readonly #pauses = new Map<string, Pause>();
  #bySession = new Map<string, readonly OutboxItem[]>();
  #isStopped = false;

  constructor(options: OutboxOptions) {
    this.#options = options;
    for (const prompt of options.kept.list() ?? []) {
      this.#stored.add(prompt.dispatchId);
      const isOld = options.now() - prompt.at > MAX_AGE_MS;
      this.#put({ ...prompt, problem: isOld ? TOO_OLD : null, isStuck: isOld, isBusy: false });
    }
  }

  onChange = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  items(sessionId: string): readonly OutboxItem[] {
    return this.#bySession.get(sessionId) ?? NOTHING;
  }

  /** Resolves to the server's refusal, or to undefined once the prompt was sent or discarded. */
  add(prompt: UnsentPrompt): Promise<Error | undefined> {
    const answered = new Promise<Error | undefined>((resolve) => {
      this.#waiting.set(prompt.dispatchId, resolve);
    });
    this.#put({ ...prompt, problem: null, isStuck: false, isBusy: false });
    if (this.#options.kept.keep(prompt)) this.#stored.add(prompt.dispatchId);
    void this.#sendNext(prompt.sessionId);
    return answered;
  }

  /** Retries a stuck prompt on a person's request. */
  retry({ sessionId, dispatchId }: UnsentPrompt): void {
    const item = this.items(sessionId).find((one) => one.dispatchId === dispatchId);
    if (!item) return;
    this.#failures.delete(dispatchId);
    this.#endPause(sessionId);
    this.#put({ ...item, problem: null, isStuck: false, isBusy: false });
    void this.#sendNext(sessionId);
  }

  discard({ sessionId, dispatchId }: UnsentPrompt): void {
    this.#remove(sessionId, dispatchId);
    this.#answer(dispatchId, undefined);
    void this.#sendNext(sessionId);
  }

  /** Drops prompts that another tab has sent or discarded: they are no longer in the storage. */
  sync(): void {
    const kept = this.#options.kept.list();
    // An unreadable storage says nothing.
    if (!kept) return;
    const ids = new Set(kept.map(({ dispatchId }) => dispatchId));
    for (const { sessionId, dispatchId } of [...this.#bySession.values()].flat()) {
      if (ids.has(dispatchId) || !this.#stored.has(dispatchId)) continue;
      this.#take(sessionId, dispatchId);
      this.#answer(dispatchId, undefined);
    }
  }

  /** Sends everything that waits: the server can be reached again, or the page was opened. */
  wake(): void {
    for (const sessionId of this.#bySession.keys()) void this.#sendNext(sessionId);
  }

  stop(): void {
    this.#isStopped = true;
    for (const { timer } of this.#pauses.values()) this.#options.clearTimer(timer);
  }

  async #sendNext(sessionId: string): Promise<void> {
    const notBefore = this.#pauses.get(sessionId)?.notBefore ?? 0;
    if (this.#busy.has(sessionId) || this.#isStopped || this.#options.now() < notBefore) return;
    this.#busy.add(sessionId);
    try {
      for (;;) {
        this.sync();
        const item = this.items(sessionId).find(({ isStuck }) => !isStuck);
        if (!item || !(await this.#sendOne(item))) return;
      }
    } finally {
      this.#busy.delete(sessionId);
    }
  }

  /** Returns false when nothing more of this session can be sent now. */
  async #sendOne(item: OutboxItem): Promise<boolean> {
    const result = await this.#judge(item, await this.#options.send(promptOf(item)));
    if (this.#isStopped) return false;
    if (result.is === "sent" || result.is === "refused") {
      this.#endPause(item.sessionId);
      if (result.is === "sent") this.#remove(item.sessionId, item.dispatchId);
      else this.#hold(item, result.error.message, { isStuck: true });
      this.#answer(item.dispatchId, result.is === "sent" ? undefined : result.error);
      return true;
    }
    this.#hold(item, result.why, { isBusy: result.is === "busy" });
    if (result.is === "lost") this.#tryLater(item.sessionId);
    else if (result.is === "busy")
      this.#tryLater(item.sessionId, Math.min(MAX_BUSY_MS, result.afterMs));
    return false;
  }

  /** Treats a server failure like an outage, unless only this prompt makes the server fail. */
  async #judge(
    { dispatchId }: OutboxItem,
    result: SendResult,
  ): Promise<Exclude<SendResult, { is: "failed" }>> {
    if (result.is !== "failed") return result;
    const { error } = result;
    const failures = (this.#failures.get(dispatchId) ?? 0) + 1;
    this.#failures.set(dispatchId, failures);
    if (failures >= MAX_FAILURES && (await this.#options.isServerWell()))
      return { is: "refused", error };
    return { is: "lost", why: error.message };
  }

  /** Schedules the next attempt; without a given time, less and less often. */
  #tryLater(sessionId: string, busyMs?: number): void {
    const { clearTimer, setTimer, now } = this.#options;
    const before = this.#pauses.get(sessionId);
    clearTimer(before?.timer);
    const attempts = before?.attempts ?? 0;
    const waitMs = busyMs ?? Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** attempts);
    this.#pauses.set(sessionId, {
      attempts: attempts + 1,
      timer: setTimer(() => void this.#sendNext(sessionId), waitMs),
      notBefore: busyMs === undefined ? 0 : now() + busyMs,
    });
  }

  #endPause(sessionId: string): void {
    this.#options.clearTimer(this.#pauses.get(sessionId)?.timer);
    this.#pauses.delete(sessionId);
  }

  #answer(dispatchId: string, error: Error | undefined): void {
    this.#waiting.get(dispatchId)?.(error);
    this.#waiting.delete(dispatchId);
  }

  /** Records why an item is not sent, unless it was discarded meanwhile. */
  #hold(item: OutboxItem, problem: string, { isStuck = false, isBusy = false }): void {
    const isThere = this.items(item.sessionId).some(
      ({ dispatchId }) => dispatchId === item.dispatchId,
    );
    if (isThere) this.#put({ ...item, problem, isStuck, isBusy });
  }

  #put(item: OutboxItem): void {
    const list = this.items(item.sessionId);
    const at = list.findIndex(({ dispatchId }) => dispatchId === item.dispatchId);
    this.#set(item.sessionId, at < 0 ? [...list, item] : list.with(at, item));
  }

  #remove(sessionId: string, dispatchId: string): void {
    this.#take(sessionId, dispatchId);
    this.#options.kept.forget(dispatchId);
  }

  #take(sessionId: string, dispatchId: string): void {
    const rest = this.items(sessionId).filter((item) => item.dispatchId !== dispatchId);
    this.#set(sessionId, rest);
    this.#failures.delete(dispatchId);
  }

  #set(sessionId: string, list: readonly OutboxItem[]): void {
    if (list.length === 0) this.#bySession.delete(sessionId);
    else this.#bySession.set(sessionId, list);
    for (const listener of this.#listeners) listener();
  }
}
