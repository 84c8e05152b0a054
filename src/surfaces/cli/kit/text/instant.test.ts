import { expect, it } from "vitest";
import { instantOf, localDay, localTime } from "./instant.ts";

it("takes a day alone as its end or its beginning, where the person is", () => {
  expect(instantOf("2030-01-31", "ends")).toBe(new Date(2030, 0, 31, 23, 59, 59).toISOString());
  expect(instantOf("2030-01-31", "begins")).toBe(new Date(2030, 0, 31).toISOString());
  expect(instantOf("2028-02-29", "ends")).toBe(new Date(2028, 1, 29, 23, 59, 59).toISOString());
});

it("shows what was typed", () => {
  expect(localDay(instantOf("2030-01-31", "ends"))).toBe("2030-01-31");
  expect(localTime(instantOf("2030-01-05T09:07", "ends"))).toBe("2030-01-05 09:07");
});

it("takes a time as it is said, with a zone or without", () => {
  const local = new Date(2030, 0, 31, 12, 30).toISOString();
  expect(instantOf("2030-01-31T12:30", "ends")).toBe(local);
  expect(instantOf("2030-01-31 12:30", "ends")).toBe(local);
  expect(instantOf("2030-01-31t12:30:00z", "ends")).toBe("2030-01-31T12:30:00.000Z");
  expect(instantOf("2030-01-31T12:30:00+02:00", "ends")).toBe("2030-01-31T10:30:00.000Z");
});

it.each([
  "2030-02-31",
  "2030-02-29T10:00:00Z",
  "2030-13-01",
  "2030-00-10",
  "2030-01-00",
  "2030-01-31T25:00",
  "tomorrow",
  "31.1.2030",
  "2030",
  "",
])("refuses %j", (text) => {
  expect(() => instantOf(text, "ends")).toThrow(/no such|Write it as/);
});
