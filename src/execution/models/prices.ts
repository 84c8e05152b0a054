/**
 * List prices of well-known models, each with a day on which it was in its provider's price list. A
 * model that is not here is unpriced, which is not the same as free. Discounts for batches and
 * surcharges for regions or speed are not in these figures.
 */
import type { ModelPrice, ModelRates, ModelUsage } from "./model.ts";

const MILLION = 1_000_000;
/** Tokens that Anthropic's cache keeps for an hour cost this many times the input price. */
const HOUR_FACTOR = 2;

type Dollars = [input: number, cachedInput: number, output: number, cacheWrite?: number];

interface Listed {
  on: string;
  dollars: Dollars;
  long?: { above: number; dollars: Dollars };
}

const ANTHROPIC: Readonly<Record<string, Listed>> = {
  "claude-opus-5-5": { on: "2026-10-10", dollars: [4, 0.2, 20, 5] },
  "claude-opus-5": { on: "2026-10-10", dollars: [5, 0.5, 25, 6.25] },
  "claude-opus-4-8": { on: "2026-10-10", dollars: [5, 0.5, 25, 6.25] },
  "claude-opus-4-7": { on: "2026-10-10", dollars: [5, 0.5, 25, 6.25] },
  "claude-opus-4-6": { on: "2026-10-10", dollars: [5, 0.5, 25, 6.25] },
  "claude-opus-4-5": { on: "2026-10-10", dollars: [5, 0.5, 25, 6.25] },
  "claude-sonnet-5-5": { on: "2026-09-29", dollars: [2, 0.2, 10, 2.5] },
  "claude-sonnet-5": { on: "2026-10-10", dollars: [2, 0.2, 10, 2.5] },
  "claude-sonnet-4-6": { on: "2026-10-10", dollars: [3, 0.3, 15, 3.75] },
  "claude-sonnet-4-5": { on: "2026-10-10", dollars: [3, 0.3, 15, 3.75] },
  "claude-haiku-5-5": {
    on: "2026-10-13",
    dollars: [0.1, 0.01, 0.5, 0.125],
    long: { above: 100_000, dollars: [0.5, 0.05, 2.5, 0.625] },
  },
  "claude-haiku-4-5": { on: "2026-10-10", dollars: [1, 0.1, 5, 1.25] },
  "claude-fable-5-1": { on: "2026-10-10", dollars: [10, 0.25, 50, 12.5] },
  "claude-fable-5": { on: "2026-10-10", dollars: [10, 1, 50, 12.5] },
};

/**
 * Input size above which a whole request costs twice as much to read and half as much again to
 * write.
 */
const OPENAI_LONG_TOKENS = 272_000;
const withLong = ([input, cached, output, write]: Dollars): NonNullable<Listed["long"]> => ({
  above: OPENAI_LONG_TOKENS,
  dollars:
    write === undefined
      ? [2 * input, 2 * cached, 1.5 * output]
      : [2 * input, 2 * cached, 1.5 * output, 2 * write],
});
const tiered = (on: string, dollars: Dollars): Listed => ({ on, dollars, long: withLong(dollars) });

const OPENAI: Readonly<Record<string, Listed>> = {
  "gpt-6.1-sol": tiered("2026-10-01", [2, 0.1, 10]),
  "gpt-6.1-terra": tiered("2026-11-05", [1, 0.05, 5, 1.25]),
  "gpt-6-sol": tiered("2026-09-22", [2, 0.2, 10, 2.5]),
  "gpt-6-luna": tiered("2026-09-22", [0.1, 0.01, 0.5, 0.125]),
  "gpt-5.6-terra": tiered("2026-08-01", [2, 0.2, 12]),
  "gpt-5.6-luna": tiered("2026-08-01", [0.2, 0.02, 1.2]),
  "gpt-5.1": { on: "2025-11-13", dollars: [1.25, 0.125, 10] },
  "gpt-5": { on: "2025-08-07", dollars: [1.25, 0.125, 10] },
  "gpt-5-mini": { on: "2025-08-07", dollars: [0.25, 0.025, 2] },
  "gpt-5-nano": { on: "2025-08-07", dollars: [0.05, 0.005, 0.4] },
  "gpt-4.1": { on: "2025-04-14", dollars: [2, 0.5, 8] },
  "gpt-4.1-mini": { on: "2025-04-14", dollars: [0.4, 0.1, 1.6] },
  "gpt-4.1-nano": { on: "2025-04-14", dollars: [0.1, 0.025, 0.4] },
};

const FREE: ModelRates = { inputMicros: 0, cachedInputMicros: 0, outputMicros: 0 };
const LISTS: Readonly<Record<string, Readonly<Record<string, Listed>>>> = {
  anthropic: ANTHROPIC,
  openai: OPENAI,
  "openai-chat": OPENAI,
};

/** Price of a model by its id `provider/model`; null when it is not known. */
export function priceOf(id: string): ModelPrice | null {
  const slash = id.indexOf("/");
  const provider = id.slice(0, slash);
  if (provider === "ollama") return { id: `${id}@local`, ...FREE };
  if (id === "demo/story") return { id: "demo/story@built-in", ...FREE };
  const model = withoutDate(id.slice(slash + 1));
  const list = LISTS[provider];
  const listed = list && Object.hasOwn(list, model) ? list[model] : undefined;
  if (!listed) return null;
  const { on, dollars, long } = listed;
  return {
    id: `${provider}/${model}@${on}`,
    ...ratesOf(dollars),
    ...(long ? { long: { aboveInputTokens: long.above, ...ratesOf(long.dollars) } } : {}),
  };
}

/** Cost of a request in whole micro-dollars; null if it is unpriced. */
export function costMicros(price: ModelPrice | null, usage: ModelUsage | null): number | null {
  if (!price || !usage) return null;
  const isLong = price.long !== undefined && usage.inputTokens > price.long.aboveInputTokens;
  const rates: ModelRates = isLong && price.long ? price.long : price;
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens);
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.inputTokens - cached);
  const forAnHour = Math.min(usage.cacheHourTokens ?? 0, written);
  const sum =
    (usage.inputTokens - cached - written) * rates.inputMicros +
    cached * rates.cachedInputMicros +
    (written - forAnHour) * (rates.cacheWriteMicros ?? rates.inputMicros) +
    forAnHour * HOUR_FACTOR * rates.inputMicros +
    usage.outputTokens * rates.outputMicros;
  return Math.round(sum / MILLION);
}

/** A dated id is a fixed version of the model, at the same price. */
function withoutDate(model: string): string {
  return model.replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, "");
}

function ratesOf([input, cachedInput, output, cacheWrite]: Dollars): ModelRates {
  const micros = (dollars: number) => Math.round(dollars * MILLION);
  return {
    inputMicros: micros(input),
    cachedInputMicros: micros(cachedInput),
    ...(cacheWrite === undefined ? {} : { cacheWriteMicros: micros(cacheWrite) }),
    outputMicros: micros(output),
  };
}
