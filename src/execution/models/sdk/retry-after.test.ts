import { describe, expect, it } from "vitest";
import { retryAfterMs } from "./retry-after.ts";

const NOW = Date.UTC(2026, 0, 1);

describe("retryAfterMs", () => {
  it.each([
    [{}, undefined],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "1.5" }, 1500],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:20 GMT" }, 20_000],
    [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
    [{ "retry-after": "5", "retry-after-ms": "1200" }, 1200],
    [{ "retry-after": "5", "x-ratelimit-reset-tokens": "9m" }, 5000],
    [{ "x-ratelimit-reset-requests": "120ms" }, 120],
    [{ "x-ratelimit-reset-requests": "1h2m3.5s" }, 3_723_500],
    [{ "x-ratelimit-reset-tokens": "6m0s" }, 360_000],
    [{ "x-ratelimit-reset": String(NOW + 4000) }, 4000],
    [{ "x-ratelimit-reset": String(NOW / 1000 + 4) }, 4000],
    [{ "anthropic-ratelimit-unified-reset": String(NOW / 1000 + 60) }, 60_000],
    [{ "x-ratelimit-reset": "9999999999999999999999" }, 31 * 24 * 3_600_000],
  ])("%j is %s", (headers, waitMs) => {
    expect(retryAfterMs(headers, NOW)).toBe(waitMs);
  });

  it("waits for the limit that is used up, not for the others", () => {
    const headers = {
      "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:05Z",
      "anthropic-ratelimit-requests-remaining": "12",
      "anthropic-ratelimit-output-tokens-reset": "2026-01-01T00:00:45Z",
      "anthropic-ratelimit-output-tokens-remaining": "0",
    };
    expect(retryAfterMs(headers, NOW)).toBe(45_000);
  });
});
