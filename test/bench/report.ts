/** Prints the table, and writes the same as JSON. */
import { writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import type { Row, Target } from "./figure.ts";

export type Verdict = "ok" | "near" | "miss" | "";

/**
 * Measurements differ by this factor from run to run; a result within it counts as reached, but is
 * marked.
 */
const NOISE = 1.3;

export function ratioOf({ ours, floor }: Row): number | undefined {
  return floor === undefined || floor === 0 ? undefined : ours / floor;
}

export function verdictOf(row: Row): Verdict {
  const { target } = row;
  if (!target) return "";
  const isRatio = target.kind === "at_most_ratio" || target.kind === "at_least_ratio";
  const value = isRatio ? ratioOf(row) : row.ours;
  if (value === undefined || Number.isNaN(value)) return "miss";
  const isUpper = target.kind === "at_most_ratio" || target.kind === "at_most";
  if (isUpper ? value <= target.value : value >= target.value) return "ok";
  const over = isUpper ? value / target.value : target.value / value;
  return isRatio && over <= NOISE ? "near" : "miss";
}

const HEAD = ["figure", "floor", "ours", "ratio", "target", "", "note"];

export function table(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.figure,
    row.floor === undefined ? "–" : amount(row.floor, row.unit),
    amount(row.ours, row.unit),
    ratioOf(row) === undefined ? "–" : `${round(ratioOf(row) as number)}×`,
    targetText(row.target, row.unit),
    verdictOf(row),
    row.note ?? "",
  ]);
  const widths = HEAD.map((head, column) =>
    Math.max(head.length, ...cells.map((line) => (line[column] ?? "").length)),
  );
  const lines = [HEAD, widths.map((width) => "-".repeat(width)), ...cells];
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(" | ")
        .trimEnd(),
    )
    .join("\n");
}

function targetText(target: Target | undefined, unit: string): string {
  if (!target) return "";
  const sign = target.kind.startsWith("at_most") ? "≤" : "≥";
  return target.kind.endsWith("ratio")
    ? `${sign} ${target.value}×`
    : `${sign} ${amount(target.value, unit)}`;
}

function amount(value: number, unit: string): string {
  return `${round(value)} ${unit}`.trim();
}

function round(value: number): string {
  if (Number.isNaN(value)) return "?";
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", {
    minimumFractionDigits: 0,
    maximumFractionDigits: digits,
  });
}

export function writeJson(file: string, rows: readonly Row[]): void {
  const report = {
    node: process.version,
    cores: availableParallelism(),
    load: loadavg(),
    rows: rows.map((row) => ({ ...row, ratio: ratioOf(row) ?? null, verdict: verdictOf(row) })),
  };
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}
