/**
 * Limits guessing without letting strangers lock a person out. Failures are counted for the account together
 * with the address they come from, for the address, and, with a much higher limit, for the account from
 * everywhere. A browser that somebody has signed in with before (`known-browsers.ts`) has a counter of its
 * own, apart from the others.
 *
 * An attempt is counted before its password is checked, so that concurrent ones count too, and for names that
 * do not exist as for those that do. Each server counts for itself; a restart resets the counters, which no
 * stranger can cause.
 */
import { addressGroup } from "#base/net/address-group.ts";
import { Refusal } from "#base/refusal.ts";

const WINDOW_MS = 15 * 60_000;
const MAX_PER_PAIR = 10;
const MAX_PER_BROWSER = 10;
/** Limit per address. Many people may share one, as behind a proxy. */
const MAX_PER_ADDRESS = 50;
/** Limit against guesses from many addresses at once; only unknown browsers wait for it. */
const MAX_PER_ACCOUNT = 100;
const MAX_KEYS = 50_000;

interface Counter {
  count: number;
  since: number;
}

export interface Attempt {
  /** True if the next attempt has to wait should this one fail. */
  isLast: boolean;
  /** Takes this attempt back, and resets earlier failures of the account from there. */
  succeeded(): void;
  /** Takes this attempt back, because it was no guess, right or wrong. */
  giveBack(): void;
}

export interface AttemptSource {
  account: string;
  address: string;
  /** A browser that this account has signed in with before. */
  knownBrowser?: string | undefined;
}

export type Lockout = ReturnType<typeof createLockout>;

export function createLockout(now: () => number) {
  const counters = new Map<string, Counter>();

  function current(key: string): Counter {
    const known = counters.get(key);
    if (known && now() - known.since < WINDOW_MS) return known;
    counters.delete(key);
    if (counters.size >= MAX_KEYS) dropLeast(counters);
    const fresh = { count: 0, since: now() };
    counters.set(key, fresh);
    return fresh;
  }

  /** Counts in every counter, or in none when one is full. */
  function take(limits: readonly [key: string, limit: number][]): Attempt {
    const taken = limits.map(([key, limit]) => ({ key, limit, counter: current(key) }));
    for (const { counter, limit } of taken) if (counter.count >= limit) throw locked(counter);
    for (const { counter } of taken) counter.count++;
    const giveBack = () => {
      for (const { counter } of taken) counter.count--;
    };
    return {
      isLast: taken.some(({ counter, limit }) => counter.count >= limit),
      giveBack,
      succeeded() {
        giveBack();
        // The most specific counter: the account from this address, or this browser.
        if (taken[0]) counters.delete(taken[0].key);
      },
    };
  }

  function locked({ since }: Counter): Refusal {
    return new Refusal(
      "limit",
      "sign_in_locked",
      "Too many failed sign-ins. Wait a while, use a browser you have signed in with before, or use a sign-in link.",
      { retryAfterMs: Math.max(1_000, since + WINDOW_MS - now()) },
    );
  }

  return {
    /** Throws while the caller has to wait. */
    attempt({ account, address, knownBrowser }: AttemptSource): Attempt {
      if (knownBrowser !== undefined)
        return take([[`browser ${account} ${knownBrowser}`, MAX_PER_BROWSER]]);
      const group = addressGroup(address);
      return take([
        [`pair ${account} ${group}`, MAX_PER_PAIR],
        [`address ${group}`, MAX_PER_ADDRESS],
        [`account ${account}`, MAX_PER_ACCOUNT],
      ]);
    },

    /** Counts an attempt for which no account is known yet. */
    attemptFrom: (address: string): Attempt => {
      const { isLast, giveBack } = take([[`address ${addressGroup(address)}`, MAX_PER_ADDRESS]]);
      // Others may be guessing from the same address: only this attempt is taken back.
      return { isLast, giveBack, succeeded: giveBack };
    },
  };
}

/**
 * Makes room by dropping the lower half. A flood of new names and addresses has counted once each, so it
 * displaces its own entries and not the counters that hold somebody back.
 */
function dropLeast(counters: Map<string, Counter>): void {
  const byCount = [...counters].sort(([, a], [, b]) => a.count - b.count || a.since - b.since);
  for (const [key] of byCount.slice(0, MAX_KEYS / 2)) counters.delete(key);
}
