/**
 * One request of a client and a provider's response to it, with the limits that end it: no headers from the
 * provider, no progress, too long a duration, a client that has gone, or a turn that has ended.
 */
import type { Context } from "hono";
import type { AppEnv } from "../app.ts";

export interface ExchangeLimits {
  /** Time for a provider to begin its response. */
  headersMs: number;
  /** Time without progress, by the provider or the client. */
  idleMs: number;
  totalMs: number;
  /** Interval of checks that the turn still holds its run. */
  checkEveryMs: number;
}

export const DEFAULT_EXCHANGE_LIMITS: ExchangeLimits = {
  headersMs: 10 * 60_000,
  idleMs: 5 * 60_000,
  totalMs: 60 * 60_000,
  checkEveryMs: 2_000,
};

export class Exchange {
  readonly c: Context<AppEnv>;
  /** True when the client has gone: nobody is left to respond to. */
  isClientGone = false;
  readonly #limits: ExchangeLimits;
  readonly #abort = new AbortController();
  readonly #total: NodeJS.Timeout;
  readonly #check: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(c: Context<AppEnv>, limits: ExchangeLimits, stillHeld?: () => Promise<boolean>) {
    this.c = c;
    this.#limits = limits;
    const { outgoing } = c.env;
    const gone = () => {
      this.isClientGone = true;
      this.#abort.abort();
    };
    outgoing.once("close", gone);
    if (outgoing.destroyed) gone();
    this.#total = setTimeout(() => this.#abort.abort(), limits.totalMs);
    if (stillHeld) this.#check = setInterval(() => this.#checkRun(stillHeld), limits.checkEveryMs);
  }

  /** Aborts the request to the provider, also while its response is being read. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  waitForHeaders(): void {
    this.#idle = setTimeout(() => this.#abort.abort(), this.#limits.headersMs);
  }

  /** Restarts the idle timer after progress. */
  moved(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#abort.abort(), this.#limits.idleMs);
  }

  close(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#idle);
    clearInterval(this.#check);
  }

  /** A failed check proves nothing: the next one may succeed. */
  #checkRun(stillHeld: () => Promise<boolean>): void {
    stillHeld().then(
      (isHeld) => {
        if (!isHeld) this.#abort.abort();
      },
      () => undefined,
    );
  }
}
