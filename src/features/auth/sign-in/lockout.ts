/**
 * Slows guessing down without letting strangers keep a person out. Failures are counted for the
 * account together with the address they come from, for the address, and, with much more room, for
 * the account from everywhere. A browser that somebody has signed in with before (`known-browsers.ts`)
 * has a counter of its own and is not touched by the others.
 *
 * An attempt is counted before its password is looked at, so that many at once count too, and for
 * names that do not exist as for those that do. Each server counts for itself; a restart forgets,
 * which no stranger can cause.
 */
import { addressGroup } from "#base/net/address-group.ts";
import { Refusal } from "#base/refusal.ts";

const WINDOW_MS = 15 * 60_000;
const MAX_PER_PAIR = 10;
const MAX_PER_BROWSER = 10;
/** Many people may come from one address, as behind a proxy. */
const MAX_PER_ADDRESS = 50;
/** For guesses from many addresses at once; only unknown browsers wait for it. */
const MAX_PER_ACCOUNT = 100;
const MAX_KEYS = 50_000;

interface Counter {
  count: number;
  since: number;
}

export interface Attempt {
  /** If it fails, the next one has to wait. */
  isLast: boolean;
  /** Takes this attempt back, and forgets earlier failures of the account from there. */
  succeeded(): void;
  /** It was no guess, right or wrong: as if it had not been made. */
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

  /** Counts in all of them, or in none when one is full. */
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
        // The most exact one: the account from this address, or this browser.
        if (taken[0]) counters.delete(taken[0].key);
      },
    };
  }

  function locked({ since }: Counter): Refusal {
    return new Refusal(
      "limit",
      "sign_in_locked",
      "Too many failed sign-ins. Wait a while, use a browser you have signed in with before, or a sign-in link.",
      { retryAfterMs: Math.max(1_000, since + WINDOW_MS - now()) },
    );
  }

  return {
    /** Throws while there is to be waited. */
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

    /** Where it is not known yet whose account it is. */
    attemptFrom: (address: string): Attempt => {
      const { isLast, giveBack } = take([[`address ${addressGroup(address)}`, MAX_PER_ADDRESS]]);
      // Others may be guessing from there: only this attempt is taken back.
      return { isLast, giveBack, succeeded: giveBack };
    },
  };
}

/**
 * Makes room by dropping the lower half. A flood of new names and addresses has counted once each, so
 * it pushes its own kind out and not the counters that hold somebody back.
 */
function dropLeast(counters: Map<string, Counter>): void {
  const byCount = [...counters].sort(([, a], [, b]) => a.count - b.count || a.since - b.since);
  for (const [key] of byCount.slice(0, MAX_KEYS / 2)) counters.delete(key);
}
