/** Texts for instants and durations in the reader's locale. Pure: `now` is always a parameter. */
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export function ago(iso: string, now: number): string {
  const passedMs = now - Date.parse(iso);
  if (Number.isNaN(passedMs)) return "";
  if (passedMs < 45_000) return "now";
  if (passedMs < HOUR_MS) return `${Math.max(1, Math.round(passedMs / MINUTE_MS))} min`;
  if (passedMs < DAY_MS) return `${Math.round(passedMs / HOUR_MS)} h`;
  if (passedMs < 7 * DAY_MS) return `${Math.round(passedMs / DAY_MS)} d`;
  return new Date(iso).toLocaleDateString(undefined, { day: "numeric", month: "short" });
}

/** Same for use in a sentence: "5 min ago", "just now", "on 3 Mar". */
export function agoWords(iso: string, now: number): string {
  const words = ago(iso, now);
  if (words === "now") return "just now";
  return /^\d+ (min|h|d)$/.test(words) ? `${words} ago` : `on ${words}`;
}

/** Time left: "in 5 min". Empty when it has passed or is no instant. */
export function until(iso: string, now: number): string {
  const leftMs = Date.parse(iso) - now;
  if (Number.isNaN(leftMs) || leftMs <= 0) return "";
  if (leftMs < MINUTE_MS) return "in less than a minute";
  if (leftMs < HOUR_MS) return `in ${Math.round(leftMs / MINUTE_MS)} min`;
  if (leftMs < 2 * DAY_MS) return `in ${Math.round(leftMs / HOUR_MS)} h`;
  return `in ${Math.round(leftMs / DAY_MS)} days`;
}

export function clockTime(iso: string, withSeconds = false): string {
  return new Date(iso).toLocaleTimeString(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    ...(withSeconds ? { second: "2-digit" } : {}),
  });
}

export function fullTime(iso: string): string {
  return new Date(iso).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

export function dayName(iso: string, now: number): string {
  const day = startOfDay(Date.parse(iso));
  const today = startOfDay(now);
  if (day === today) return "Today";
  if (day === startOfDay(today - 1)) return "Yesterday";
  const sameYear = new Date(day).getFullYear() === new Date(now).getFullYear();
  return new Date(day).toLocaleDateString(undefined, {
    weekday: "long",
    day: "numeric",
    month: "long",
    ...(sameYear ? {} : { year: "numeric" }),
  });
}

export function startOfDay(ms: number): number {
  const date = new Date(ms);
  date.setHours(0, 0, 0, 0);
  return date.getTime();
}

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < MINUTE_MS) return `${Math.floor(ms / 1000)} s`;
  if (ms < HOUR_MS)
    return `${Math.floor(ms / MINUTE_MS)} min ${Math.floor((ms % MINUTE_MS) / 1000)} s`;
  return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`;
}
