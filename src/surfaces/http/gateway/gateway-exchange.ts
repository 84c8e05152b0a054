/**
 * One request of a client and its answer by a provider, with the limits that end it: the provider
 * sends no headers, nothing moves, it lasts too long, the client has gone, or the turn has ended.
 */
import type { Context } from "hono";
import type { AppEnv } from "../app.ts";

export interface ExchangeLimits {
  /** How long a provider may take to begin its answer. */
  headersMs: number;
  /** How long an answer may stand still, by the provider's doing or the client's. */
  idleMs: number;
  totalMs: number;
  /** How often it is looked whether the turn still holds its run. */
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
  /** The client has gone: nobody is there to be answered. */
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
    if (stillHeld) this.#check = setInterval(() => this.#lookAtRun(stillHeld), limits.checkEveryMs);
  }

  /** Ends the request to the provider, also while its answer is being read. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  waitForHeaders(): void {
    this.#idle = setTimeout(() => this.#abort.abort(), this.#limits.headersMs);
  }

  /** Something has moved: the time in which nothing may stand still begins anew. */
  moved(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#abort.abort(), this.#limits.idleMs);
  }

  close(): void {
    clearTimeout(this.#total);
    clearTimeout(this.#idle);
    clearInterval(this.#check);
  }

  /** A check that fails says nothing: the next one may. */
  #lookAtRun(stillHeld: () => Promise<boolean>): void {
    stillHeld().then(
      (isHeld) => {
        if (!isHeld) this.#abort.abort();
      },
      () => undefined,
    );
  }
}
