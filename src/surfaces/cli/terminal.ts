/** Writing for people: colour only where it is wanted, and nothing that could command the terminal. */
import type { Environment } from "#base/config.ts";
import type { CliHost, Output } from "./host.ts";

export interface Style {
  dim(text: string): string;
  bold(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

const ESCAPE = "\u001b[";
const paint = (on: number, off: number) => (text: string) =>
  text === "" ? "" : `${ESCAPE}${on}m${text}${ESCAPE}${off}m`;
const plain = (text: string) => text;

const COLOURED: Style = {
  dim: paint(2, 22),
  bold: paint(1, 22),
  red: paint(31, 39),
  green: paint(32, 39),
  yellow: paint(33, 39),
};
const UNCOLOURED: Style = { dim: plain, bold: plain, red: plain, green: plain, yellow: plain };

export function styleFor(output: Output, env: Environment): Style {
  const isWanted = output.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
  return isWanted ? COLOURED : UNCOLOURED;
}

/** Agents may write anything, also escape sequences; people's terminals get text and no commands. */
export function safeText(text: string): string {
  return text.replaceAll(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu, "");
}

/**
 * For what a person is about to decide on: nothing is left out. What could not be seen, or would make
 * other letters look as if they stood elsewhere, is spelled out.
 */
export function exactText(text: string): string {
  return text.replaceAll(/[^\P{C}\n\t]|[\u2028\u2029]/gu, (letter) => {
    const code = letter.codePointAt(0) ?? 0;
    return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}

export function safeLine(text: string): string {
  return safeText(text).replaceAll(/\s+/g, " ").trim();
}

export function shorten(text: string, width: number): string {
  const letters = [...text];
  return letters.length <= width ? text : `${letters.slice(0, Math.max(1, width - 1)).join("")}…`;
}

const DEFAULT_COLUMNS = 100;

export function columnsOf(output: Output): number {
  return output.columns && output.columns > 0 ? output.columns : DEFAULT_COLUMNS;
}

/** Rows under headings; the last column takes what room is left. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const all = [headings, ...rows.map((row) => row.map(safeLine))];
  const widths = headings.map((_, column) =>
    Math.max(...all.map((row) => (row[column] ?? "").length)),
  );
  return all.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

export function printTable(
  host: CliHost,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const style = styleFor(host.stdout, host.env);
  const [head = "", ...lines] = formatTable(headings, rows);
  host.stdout.write(`${[style.bold(head), ...lines].join("\n")}\n`);
}

const UNITS: readonly [name: string, seconds: number][] = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
];

export function timeAgo(iso: string | null, now = Date.now()): string {
  if (iso === null) return "never";
  const seconds = Math.max(0, (now - Date.parse(iso)) / 1000);
  const unit = UNITS.find(([, size]) => seconds >= size);
  return unit ? `${Math.floor(seconds / unit[1])} ${unit[0]} ago` : "just now";
}

/** Micro-units; null is unknown, and must not look as if it were free. */
export function formatCost(costMicros: number | null): string {
  return costMicros === null ? "unpriced" : `$${(costMicros / 1e6).toFixed(4)}`;
}

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"];

export function formatBytes(bytes: number): string {
  const power = Math.min(SIZES.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const amount = bytes / 1024 ** power;
  return `${power === 0 ? amount : amount.toFixed(1)} ${SIZES[power]}`;
}
