/** Budget in dollars as typed. Pure. */
const MICROS = 1_000_000;
const MAX_DOLLARS = 1_000_000;

export function dollarsText(micros: number | null): string {
  return micros === null ? "" : String(micros / MICROS);
}

/** Returns micro-units; null for no limit; undefined if the text is no amount. */
export function readBudget(text: string): number | null | undefined {
  const typed = text.trim().replace(/^\$/, "");
  if (typed === "") return null;
  const dollars = Number(typed.replace(",", "."));
  return dollars >= 0 && dollars <= MAX_DOLLARS ? Math.round(dollars * MICROS) : undefined;
}
