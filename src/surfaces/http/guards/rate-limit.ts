/**
 * Token buckets: a steady rate with room for a burst, for each key. Bounded, because keys come from outside.
 */
export interface RateLimiter {
  /** Milliseconds to wait, or 0 when the request may pass. */
  take(key: string, now: number): number;
  /** Milliseconds until the key has paid its debt; 0 when it has none. */
  owes(key: string, now: number): number;
  /** Counts an event that happens in any case, even if it puts the key into debt. */
  spend(key: string, cost: number, now: number): void;
}

const MAX_KEYS = 50_000;

export function createRateLimiter(perSecond: number, burst: number): RateLimiter {
  if (perSecond <= 0) return { take: () => 0, owes: () => 0, spend: () => {} };
  const buckets = new Map<string, { tokens: number; at: number }>();

  function bucketOf(key: string, now: number): { tokens: number; at: number } {
    let bucket = buckets.get(key);
    if (!bucket) {
      // A full map means many strangers: the oldest bucket is dropped, which only helps its key.
      if (buckets.size >= MAX_KEYS) buckets.delete(buckets.keys().next().value as string);
      bucket = { tokens: burst, at: now };
      buckets.set(key, bucket);
    }
    const elapsed = Math.max(0, now - bucket.at);
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsed / 1_000) * perSecond);
    bucket.at = now;
    return bucket;
  }

  const msFor = (tokens: number) => Math.ceil((tokens / perSecond) * 1_000);

  return {
    take(key, now) {
      const bucket = bucketOf(key, now);
      if (bucket.tokens < 1) return msFor(1 - bucket.tokens);
      bucket.tokens -= 1;
      return 0;
    },
    owes: (key, now) => msFor(Math.max(0, -bucketOf(key, now).tokens)),
    spend(key, cost, now) {
      bucketOf(key, now).tokens -= cost;
    },
  };
}
