/** When a letter may come back. Pure: `now` is handed in. */
export interface SnoozeTime {
  words: string;
  at: Date;
}

const MORNING = 9;
const EVENING = 18;
/** Closer than this, "this evening" would be no rest. */
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
  // Before a Monday, tomorrow is next week.
  return times.filter(({ at }, place) => times.findIndex((one) => +one.at === +at) === place);
}

/** Of the next day. */
export function morning(now: Date): Date {
  return dayAt(now, 1, MORNING);
}

/** Such as `2026-03-01T09:00`: what the field for a day and a time understands, in local time. */
export function fieldTime(at: Date): string {
  const two = (number: number) => String(number).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** Undefined when it is no time, or is over. */
export function chosenTime(field: string, now: Date): Date | undefined {
  const at = new Date(field);
  return at.getTime() > now.getTime() ? at : undefined;
}

/** By the calendar, so that a day with a changed clock still has its morning. */
function dayAt(now: Date, days: number, hour: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
}

/** On a Monday the next one is meant. */
function daysToMonday(now: Date): number {
  return (MONDAY - now.getDay() + 7) % 7 || 7;
}
