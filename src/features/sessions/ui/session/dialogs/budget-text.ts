/** A budget as a person types it, in dollars. Pure. */
const MICROS = 1_000_000;
const MAX_DOLLARS = 1_000_000;

export function dollarsText(micros: number | null): string {
  return micros === null ? "" : String(micros / MICROS);
}

/** In micro-units; null: no limit; undefined: this is no amount. */
export function readBudget(text: string): number | null | undefined {
  const typed = text.trim().replace(/^\$/, "");
  if (typed === "") return null;
  const dollars = Number(typed.replace(",", "."));
  return dollars >= 0 && dollars <= MAX_DOLLARS ? Math.round(dollars * MICROS) : undefined;
}
