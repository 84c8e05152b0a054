import { describe, expect, it } from "vitest";
import { isLocalTime, localDayText, localTimeText, zonedInstant } from "./zoned-time.ts";

const iso = (text: string, timezone: string) =>
  new Date(zonedInstant(text, { timezone })).toISOString();

describe("a time without a zone", () => {
  it.each([
    ["2030-01-31T12:00", "Europe/Berlin", "2030-01-31T11:00:00.000Z"],
    ["2030-07-31T12:00:30", "Europe/Berlin", "2030-07-31T10:00:30.000Z"],
    ["2030-01-31", "America/Los_Angeles", "2030-02-01T07:59:59.000Z"],
    ["2030-01-31T12:00", "Asia/Kathmandu", "2030-01-31T06:15:00.000Z"],
    // The hours around both changes of the clocks.
    ["2030-03-31T01:30", "Europe/Berlin", "2030-03-31T00:30:00.000Z"],
    ["2030-03-31T03:30", "Europe/Berlin", "2030-03-31T01:30:00.000Z"],
    ["2030-10-27T04:00", "Europe/Berlin", "2030-10-27T03:00:00.000Z"],
    // One with a zone keeps it.
    ["2030-01-31T12:00:00Z", "Europe/Berlin", "2030-01-31T12:00:00.000Z"],
    ["2030-01-31T12:00:00+05:30", "Europe/Berlin", "2030-01-31T06:30:00.000Z"],
  ])("%s in %s is %s", (text, timezone, instant) => {
    expect(iso(text, timezone)).toBe(instant);
  });

  it.each(["2030-02-31", "2030-13-01", "2030-01-31T25:00", "2030-01-31T12:00Z", "soon", ""])(
    "is not %j",
    (text) => {
      expect(isLocalTime(text)).toBe(false);
    },
  );

  it.each(["2030-01-31", "2030-01-31T12:00", "2030-01-31T12:00:30.5"])("is %s", (text) => {
    expect(isLocalTime(text)).toBe(true);
  });
});

describe("an instant as a person reads it", () => {
  const at = Date.parse("2030-01-31T23:30:00Z");

  it("is in their zone and their locale", () => {
    expect(localTimeText(at, { timezone: "Europe/Berlin", locale: "de-DE" })).toBe(
      "01.02.2030, 00:30 (Europe/Berlin)",
    );
    expect(localTimeText(at, { timezone: "UTC", locale: "en-GB" })).toBe(
      "31 Jan 2030, 23:30 (UTC)",
    );
  });

  it("has the day that it is there", () => {
    expect(localDayText(at, { timezone: "Europe/Berlin" })).toBe(
      "Friday, February 1, 2030 at GMT+01:00",
    );
    expect(localDayText(at, { timezone: "UTC" })).toContain("Thursday, January 31, 2030");
  });
});
