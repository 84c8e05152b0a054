/** Token buckets: a steady rate with room for a burst, for each key. Bounded, because keys come from outside. */
export interface RateLimiter {
  /** Milliseconds to wait, or 0 when the request may pass. */
  take(key: string, now: number): number;
}

const MAX_KEYS = 50_000;

export function createRateLimiter(perSecond: number, burst: number): RateLimiter {
  if (perSecond <= 0) return { take: () => 0 };
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    take(key, now) {
      let bucket = buckets.get(key);
      if (!bucket) {
        // A full map means many strangers: the oldest is forgotten, which only helps it.
        if (buckets.size >= MAX_KEYS) buckets.delete(buckets.keys().next().value as string);
        bucket = { tokens: burst, at: now };
        buckets.set(key, bucket);
      }
      const elapsed = Math.max(0, now - bucket.at);
      bucket.tokens = Math.min(burst, bucket.tokens + (elapsed / 1_000) * perSecond);
      bucket.at = now;
      if (bucket.tokens >= 1) {
        bucket.tokens -= 1;
        return 0;
      }
      return Math.ceil(((1 - bucket.tokens) / perSecond) * 1_000);
    },
  };
}
