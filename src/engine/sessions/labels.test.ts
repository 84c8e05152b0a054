import { expect, it } from "vitest";
import { hasLabel, labelsOf, setLabel } from "./labels.ts";

it("attaches labels once, in order, and removes them", () => {
  const row = { labels: "" };
  expect(labelsOf(row)).toEqual([]);
  for (const label of ["plan", "memory", "plan"]) setLabel(row, label, true);
  expect(row.labels).toBe("memory plan");
  expect([hasLabel(row, "plan"), hasLabel(row, "pla")]).toEqual([true, false]);
  setLabel(row, "plan", false);
  setLabel(row, "persona", false);
  expect(row.labels).toBe("memory");
  setLabel(row, "memory", false);
  expect(row.labels).toBe("");
});
