/** Snooze times of a message. Pure: `now` is a parameter. */
export interface SnoozeTime {
  words: string;
  at: Date;
}

const MORNING = 9;
const EVENING = 18;
/** Minimum distance of "this evening" in hours. */
const REST_HOURS = 2;
const MONDAY = 1;

export function snoozeTimes(now: Date): SnoozeTime[] {
  const times: SnoozeTime[] = [
    { words: "In an hour", at: new Date(now.getTime() + 60 * 60_000) },
    { words: "Tomorrow", at: morning(now) },
    { words: "Next week", at: dayAt(now, daysToMonday(now), MORNING) },
  ];
  if (now.getHours() < EVENING - REST_HOURS)
    times.splice(1, 0, { words: "This evening", at: dayAt(now, 0, EVENING) });
  // On a Sunday, "tomorrow" and "next week" are the same time.
  return times.filter(({ at }, place) => times.findIndex((one) => +one.at === +at) === place);
}

/** Returns the next day's morning. */
export function morning(now: Date): Date {
  return dayAt(now, 1, MORNING);
}

/** Formats a time for the browser's field in local time, such as `2026-03-01T09:00`. */
export function fieldTime(at: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Returns undefined when the field holds no time, or a past one. */
export function chosenTime(field: string, now: Date): Date | undefined {
  const at = new Date(field);
  return at.getTime() > now.getTime() ? at : undefined;
}

/** Counts by the calendar, so that days with a clock change keep their morning. */
function dayAt(now: Date, days: number, hour: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
}

/** Returns 7 on a Monday: the next Monday is meant. */
function daysToMonday(now: Date): number {
  return (MONDAY - now.getDay() + 7) % 7 || 7;
}
