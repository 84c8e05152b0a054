/** Days and times as people type them. An impossible day is refused, not moved to another. */
import { Refusal } from "#base/refusal.ts";

const TYPED =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/i;

/** Reads a day alone as its beginning or its end in local time; a time without a zone is local too. */
export function instantOf(text: string, day: "begins" | "ends"): string {
  const parts = TYPED.exec(text.trim());
  const [year, month, date] = (parts?.slice(1, 4) ?? []).map(Number);
  if (!parts || year === undefined || month === undefined || date === undefined)
    throw refused(text, "Write it as 2030-01-31 or 2030-01-31T12:00.");
  if (month < 1 || month > 12 || date < 1 || date > daysIn(year, month))
    throw refused(text, "There is no such day.");
  const at =
    parts[4] === undefined
      ? day === "begins"
        ? new Date(year, month - 1, date)
        : new Date(year, month - 1, date, 23, 59, 59)
      : new Date(parts[0].replace(" ", "T").toUpperCase());
  if (Number.isNaN(at.getTime())) throw refused(text, "There is no such time.");
  return at.toISOString();
}

const two = (number: number) => String(number).padStart(2, "0");

/** Formats a local day, as `instantOf` reads it. */
export function localDay(iso: string): string {
  const at = new Date(iso);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

export function localTime(iso: string): string {
  const at = new Date(iso);
  return `${localDay(iso)} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

function daysIn(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function refused(text: string, why: string): Refusal {
  return new Refusal("invalid", "instant_invalid", `${JSON.stringify(text)}: ${why}`);
}
