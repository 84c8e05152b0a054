/** Times in a person's time zone: parses times without a zone, and formats instants. Pure. */

export interface LocalTimeSettings {
  timezone: string;
  locale: string;
}

export const UTC_SETTINGS: LocalTimeSettings = { timezone: "UTC", locale: "en" };

const LOCAL = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,3})\d*)?)?)?$/;

/** True for a day, or a day and a time, without a zone: `2030-01-31`, `2030-01-31T12:00`. */
export function isLocalTime(text: string): boolean {
  const read = LOCAL.exec(text) && readLocal(text);
  return read !== null && !Number.isNaN(read);
}

/** The instant that `text` means in a time zone. A day alone ends with its last second. */
export function zonedInstant(
  text: string,
  { timezone }: Pick<LocalTimeSettings, "timezone">,
): number {
  if (!LOCAL.test(text)) return Date.parse(text);
  const local = readLocal(text);
  // The offset may differ before and after a clock change; the second pass settles it.
  const first = local - offsetAt(local, timezone);
  return local - offsetAt(first, timezone);
}

/** Reads the text as UTC; NaN for a day that no calendar has. */
function readLocal(text: string): number {
  const isDay = !text.includes("T");
  const at = Date.parse(`${text}${isDay ? "T23:59:59" : ""}Z`);
  if (Number.isNaN(at)) return at;
  // Some engines move 31 February to March.
  return new Date(at).toISOString().slice(0, 10) === text.slice(0, 10) ? at : Number.NaN;
}

function offsetAt(at: number, timezone: string): number {
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat("en-US", {
      timeZone: timezone,
      calendar: "gregory",
      numberingSystem: "latn",
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    })
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<"year" | "month" | "day" | "hour" | "minute" | "second", number>;
  const { year, month, day, hour, minute, second } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
}

/** Formats an instant for a person: `31 Jan 2030, 13:00 (Europe/Berlin)`, in their locale. */
export function localTimeText(at: number, { timezone, locale }: LocalTimeSettings): string {
  const style = { dateStyle: "medium", timeStyle: "short", timeZone: timezone } as const;
  return `${new Intl.DateTimeFormat(locale, style).format(at)} (${timezone})`;
}

/**
 * The current day in a time zone, with weekday and offset: `Thursday, January 31, 2030, GMT+01:00`.
 */
export function localDayText(
  at: number,
  { timezone }: Pick<LocalTimeSettings, "timezone">,
): string {
  return new Intl.DateTimeFormat("en", {
    timeZone: timezone,
    weekday: "long",
    year: "numeric",
    month: "long",
    day: "numeric",
    timeZoneName: "longOffset",
  }).format(at);
}
