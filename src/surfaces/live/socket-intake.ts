/**
 * Takes the messages of one socket in order, no faster than its limits allow. While a message has to wait,
 * the socket is not read: the sender's own network queue holds the rest, not our memory. A sender that stays
 * at its limit for long is closed.
 */
import type { WebSocket } from "ws";

export interface IntakeOptions {
  rate: IntakeRate;
  /** Counts a message that is about to be handled. */
  count(bytes: number): void;
  /** Resolves when the socket has room for responses. */
  room(): Promise<void> | undefined;
  /**
   * Handles one message. A promise keeps one of the slots of `atOnce` until it settles, and must not reject.
   */
  handle(data: Buffer, isBinary: boolean): Promise<void> | undefined;
  atOnce: number;
  /** Total bytes of messages that are handled at once; one larger message is handled alone. */
  atOnceBytes: number;
  /** Time that a sender may stay at its limit without a pause. */
  patienceMs: number;
  /** Called when a sender was closed for staying at its limit. */
  gaveUp(): void;
}

/** A close code of ours, after HTTP's 429. */
const RATE_LIMITED = 4429;
const RATE_LIMITED_REASON = "rate_limited: too many messages for too long; connect again later";
/** Each wait is short, so that a socket which closes meanwhile is noticed. */
const LONGEST_WAIT_MS = 500;
/** Time below the limit that counts as a pause. */
const PAUSE_MS = 2_000;
/** A peer that does not acknowledge the close is cut off. */
const CLOSE_WITHIN_MS = 5_000;
/** Work of all sockets in one go before the event loop continues. */
const SLICE_MS = 5;

interface Message {
  data: Buffer;
  isBinary: boolean;
}

export interface IntakeRate {
  /** Milliseconds until the sender may send more; 0: now. */
  owes(): number;
  /** Same, by the rate of this socket alone, without the sender's other sockets. */
  owesItself(): number;
}

/** Time that all sockets together have worked in this turn of the event loop. */
const slice = { workedMs: 0, isEnding: false };

function work(ms: number): void {
  slice.workedMs += ms;
  if (slice.isEnding) return;
  slice.isEnding = true;
  setImmediate(() => {
    slice.workedMs = 0;
    slice.isEnding = false;
  });
}

export class SocketIntake {
  readonly #socket: WebSocket;
  readonly #options: IntakeOptions;
  #waiting: Message[] = [];
  #running = 0;
  #runningBytes = 0;
  #isPumping = false;
  #isClosed = false;
  /** Start of the sender's present time at its limit, and the last moment of it. */
  #limitedSince = 0;
  #limitedAt = Number.NEGATIVE_INFINITY;
  #wake = () => {};

  constructor(socket: WebSocket, options: IntakeOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on("message", (data, isBinary) => {
      if (this.#isClosed) return;
      this.#waiting.push({ data: data as Buffer, isBinary });
      if (!this.#isPumping) this.#pump().catch(() => socket.terminate());
    });
    socket.once("close", () => this.#close());
  }

  #close(): void {
    this.#isClosed = true;
    this.#waiting = [];
    this.#wake();
  }

  async #pump(): Promise<void> {
    this.#isPumping = true;
    while (this.#waiting.length > 0) {
      await this.#waitForSlot();
      const next = this.#waiting.shift();
      if (!next || this.#socket.readyState !== this.#socket.OPEN) break;
      const from = performance.now();
      this.#begin(next);
      work(performance.now() - from);
    }
    this.#isPumping = false;
    if (this.#isClosed || this.#socket.readyState !== this.#socket.OPEN) this.#waiting = [];
    // Also resumed while closing: the peer's acknowledgement must be read.
    this.#socket.resume();
  }

  #begin({ data, isBinary }: Message): void {
    this.#options.count(data.length);
    const handled = this.#options.handle(data, isBinary);
    if (!handled) return;
    this.#running += 1;
    this.#runningBytes += data.length;
    void handled.finally(() => {
      this.#running -= 1;
      this.#runningBytes -= data.length;
      this.#wake();
    });
  }

  /** Resolves when one more message may begin, or when the socket is closed. */
  async #waitForSlot(): Promise<void> {
    while (!this.#isClosed) {
      const room = this.#options.room();
      const owedMs = this.#options.rate.owes();
      const mayWork = slice.workedMs < SLICE_MS;
      if (room === undefined && owedMs === 0 && mayWork && this.#hasSlot()) return;
      this.#socket.pause();
      if (owedMs > 0) await this.#waitForRate(owedMs);
      else if (!mayWork) await new Promise((resolve) => setImmediate(resolve));
      else
        await Promise.race([...(room === undefined ? [] : [room]), this.#sleep(LONGEST_WAIT_MS)]);
    }
  }

  #hasSlot(): boolean {
    const { atOnce, atOnceBytes } = this.#options;
    if (this.#running === 0) return true;
    const bytes = this.#runningBytes + (this.#waiting[0]?.data.length ?? 0);
    return this.#running < atOnce && bytes <= atOnceBytes;
  }

  async #waitForRate(owedMs: number): Promise<void> {
    // Messages of its owner's other sockets slow this one, but do not close it.
    if (this.#options.rate.owesItself() === 0)
      return this.#sleep(Math.min(owedMs, LONGEST_WAIT_MS));
    const now = performance.now();
    if (now - this.#limitedAt > PAUSE_MS) this.#limitedSince = now;
    this.#limitedAt = now;
    if (now - this.#limitedSince > this.#options.patienceMs) {
      this.#options.gaveUp();
      this.#socket.close(RATE_LIMITED, RATE_LIMITED_REASON);
      setTimeout(() => this.#socket.terminate(), CLOSE_WITHIN_MS).unref();
      return this.#close();
    }
    await this.#sleep(Math.min(owedMs, LONGEST_WAIT_MS));
  }

  /** Ends early when something has happened. */
  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
