/**
 * Guessing is slow: after so many failures an account, or an address, has to wait. It is counted
 * before the password or the service's answer is looked at, so that many guesses at once count too, and for names that do
 * not exist as for those that do. Each server counts for itself; a restart forgets, which no
 * stranger can cause.
 */
import { Refusal } from "#base/refusal.ts";

const WINDOW_MS = 15 * 60_000;
const MAX_PER_ACCOUNT = 10;
/** Many people may come from one address, as behind a proxy. */
const MAX_PER_ADDRESS = 50;
const MAX_KEYS = 50_000;

interface Failures {
  count: number;
  since: number;
}

export interface Attempt {
  /** If it fails, the next one has to wait. */
  isLast: boolean;
  /** They got in: this one does not count, nor do those that failed at the account before. */
  succeeded(): void;
  /** It was no guess, right or wrong: as if it had not been made. */
  giveBack(): void;
}

export type Lockout = ReturnType<typeof createLockout>;

export function createLockout(now: () => number) {
  const failures = new Map<string, Failures>();

  function current(key: string): Failures {
    const known = failures.get(key);
    if (known && now() - known.since < WINDOW_MS) return known;
    failures.delete(key);
    const [oldest] = failures.keys();
    if (failures.size >= MAX_KEYS && oldest !== undefined) failures.delete(oldest);
    const fresh = { count: 0, since: now() };
    failures.set(key, fresh);
    return fresh;
  }

  return {
    /** Throws while there is to be waited. */
    attempt(account: string, address: string): Attempt {
      const accountKey = `account ${account}`;
      const ofAccount = current(accountKey);
      const ofAddress = current(`address ${address}`);
      refuse(ofAccount, MAX_PER_ACCOUNT);
      refuse(ofAddress, MAX_PER_ADDRESS);
      ofAccount.count++;
      ofAddress.count++;
      return {
        isLast: ofAccount.count >= MAX_PER_ACCOUNT || ofAddress.count >= MAX_PER_ADDRESS,
        succeeded() {
          failures.delete(accountKey);
          ofAddress.count--;
        },
        giveBack() {
          ofAccount.count--;
          ofAddress.count--;
        },
      };
    },

    /** Where it is not known yet whose account it is. */
    attemptFrom(address: string): Attempt {
      const ofAddress = current(`address ${address}`);
      refuse(ofAddress, MAX_PER_ADDRESS);
      ofAddress.count++;
      const giveBack = () => void ofAddress.count--;
      return { isLast: ofAddress.count >= MAX_PER_ADDRESS, succeeded: giveBack, giveBack };
    },
  };

  function refuse({ count, since }: Failures, limit: number): void {
    if (count < limit) return;
    throw new Refusal(
      "limit",
      "sign_in_locked",
      "Too many failed sign-ins. Wait a while, or use a sign-in link.",
      { retryAfterMs: Math.max(1_000, since + WINDOW_MS - now()) },
    );
  }
}
