/** Texts for money, tokens and bytes. Pure. Unknown amounts are called unknown, never shown as zero. */
const MICROS = 1_000_000;

export const COST_UNKNOWN = "cost unknown";

/** Formats micro-units of a dollar; null when a model without a price was used. */
export function moneyWords(micros: number | null): string {
  if (micros === null) return COST_UNKNOWN;
  const dollars = micros / MICROS;
  if (dollars === 0) return "$0";
  if (dollars < 0.0001) return "< $0.0001";
  if (dollars < 0.01) return `$${dollars.toFixed(4)}`;
  if (dollars < 1000) return `$${dollars.toFixed(2)}`;
  return `$${Math.round(dollars).toLocaleString("en-US")}`;
}

export interface Price {
  inputMicros: number;
  outputMicros: number;
}

/** Formats the price of a million tokens, input and output. */
export function priceWords(price: Price | null): string {
  if (price === null) return "price unknown";
  if (price.inputMicros === 0 && price.outputMicros === 0) return "free";
  return `${perMillion(price.inputMicros)} in, ${perMillion(price.outputMicros)} out`;
}

function perMillion(micros: number): string {
  const dollars = micros / MICROS;
  const digits = Number.isInteger(dollars) ? 0 : dollars < 0.1 ? 3 : 2;
  return `$${dollars.toFixed(digits)}`;
}

export function countWords(count: number): string {
  if (count < 1000) return String(count);
  if (count < 999_500) return `${shortNumber(count / 1000)}k`;
  if (count < 999_500_000) return `${shortNumber(count / MICROS)}M`;
  return `${shortNumber(count / 1e9)}B`;
}

function shortNumber(value: number): string {
  return value < 9.95 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

export function sizeWords(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : shortNumber(value)} ${UNITS[unit]}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}
