/** Reads the time when a provider may be asked again, in all the forms that providers use. */

export type Headers = Readonly<Record<string, string | undefined>>;

const MAX_MS = 31 * 24 * 3_600_000;
const ANTHROPIC_LIMITS = ["requests", "tokens", "input-tokens", "output-tokens", "unified"];
const OPENAI_LIMITS = ["-requests", "-tokens", ""];

/** Delay from now; undefined when the provider gives none. Names of headers are lower case. */
export function retryAfterMs(headers: Headers, nowMs: number): number | undefined {
  const asked = readMilliseconds(headers["retry-after-ms"]) ?? readRetryAfter(headers, nowMs);
  const waitMs = asked ?? limitsResetMs(headers, nowMs);
  return waitMs === undefined ? undefined : Math.min(Math.max(Math.ceil(waitMs), 0), MAX_MS);
}

function readMilliseconds(value: string | undefined): number | undefined {
  return value !== undefined && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
}

/** Reads seconds, or a date. */
function readRetryAfter(headers: Headers, nowMs: number): number | undefined {
  const value = headers["retry-after"]?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : at - nowMs;
}

/** Last reset of the limits that are used up; of all limits when none is known to be. */
function limitsResetMs(headers: Headers, nowMs: number): number | undefined {
  const all: number[] = [];
  const usedUp: number[] = [];
  const note = (reset: string | undefined, remaining: string | undefined) => {
    const waitMs = readReset(reset, nowMs);
    if (waitMs === undefined) return;
    all.push(waitMs);
    if (remaining?.trim() === "0") usedUp.push(waitMs);
  };
  for (const limit of ANTHROPIC_LIMITS) {
    const name = `anthropic-ratelimit-${limit}`;
    note(headers[`${name}-reset`], headers[`${name}-remaining`]);
  }
  for (const limit of OPENAI_LIMITS) {
    note(headers[`x-ratelimit-reset${limit}`], headers[`x-ratelimit-remaining${limit}`]);
  }
  if (usedUp.length > 0) return Math.max(...usedUp);
  return all.length > 0 ? Math.min(...all) : undefined;
}

/** Reads a date, an instant as a number, seconds, or a duration such as `6m0s` and `120ms`. */
function readReset(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim();
  if (!text) return undefined;
  if (/^\d+(\.\d+)?$/.test(text)) {
    const number = Number(text);
    if (number > 1e12) return number - nowMs;
    return number > 1e9 ? number * 1000 - nowMs : number * 1000;
  }
  const pieces = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|d|h|m|s)/g)];
  if (pieces.length > 0 && pieces.map(([piece]) => piece).join("") === text) {
    return pieces.reduce(
      (sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit ?? ""] ?? 0),
      0,
    );
  }
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at - nowMs;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
