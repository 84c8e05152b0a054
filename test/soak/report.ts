/** The table of a soak: each figure at the start and at the end, and its growth. */
import { MIB } from "./measure.ts";
import type { Row, Unit } from "./verdict.ts";

export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ name, unit, drift: { start, end, growth, allowed, isDrift } }) => [
    name,
    show(start, unit),
    show(end, unit),
    show(growth, unit),
    show(allowed, unit),
    isDrift ? "DRIFT" : "steady",
  ]);
  const table = [["figure", "start", "end", "growth", "allowed", ""], ...cells];
  const widths = table[0]?.map((_, column) =>
    Math.max(...table.map((line) => line[column]?.length ?? 0)),
  );
  return table
    .map((line) =>
      line
        .map((cell, n) =>
          n === 0 ? cell.padEnd(widths?.[n] ?? 0) : cell.padStart(widths?.[n] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

export function driftsOf(rows: readonly Row[]): string[] {
  return rows
    .filter(({ drift }) => drift.isDrift)
    .map(
      ({ name, unit, drift }) =>
        `${name} grew from ${show(drift.start, unit)} to ${show(drift.end, unit)}, and goes on growing`,
    );
}

function show(value: number, unit: Unit): string {
  switch (unit) {
    case "MiB":
      return `${(value / MIB).toFixed(1)} MiB`;
    case "bytes":
      return `${Math.round(value)} B`;
    case "ms":
      return `${value.toFixed(1)} ms`;
    case "count":
      return String(Math.round(value * 10) / 10);
  }
}
