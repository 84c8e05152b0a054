/** Text for people and programs: colour only where it is wanted, and no foreign control characters. */
import type { Environment } from "#base/config.ts";
import { spellOut, terminalJson, terminalText } from "#base/text/visible-text.ts";
import type { CliHost, Output } from "../host.ts";
import { ownSequence } from "./guarded-output.ts";
import { shortenTo, widthOf } from "./text-width.ts";

export interface Style {
  dim(text: string): string;
  bold(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

const paint = (on: number, off: number) => (text: string) =>
  text === "" ? "" : ownSequence(`[${on}m`) + text + ownSequence(`[${off}m`);
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

/** Spells out control characters in text of an agent or another person. */
export const safeText = terminalText;

/** Spells out every invisible character in text that a person is about to decide on. */
export const exactText = spellOut;

/** Formats a value for programs, on one line, with escapes for every character that controls a terminal. */
export function jsonText(value: unknown): string {
  return terminalJson(JSON.stringify(value) ?? "null");
}

export function safeLine(text: string): string {
  return safeText(text).replaceAll(/\s+/g, " ").trim();
}

/** Shortens to a number of columns, and of code points: foreign text may pile marks on one character. */
export function shorten(text: string, columns: number): string {
  const room = Math.max(2, columns);
  const letters = [...text];
  const bounded = letters.length <= room ? text : `${letters.slice(0, room - 1).join("")}…`;
  return shortenTo(bounded, room);
}

const DEFAULT_COLUMNS = 100;

export function columnsOf(output: Output): number {
  return output.columns && output.columns > 0 ? output.columns : DEFAULT_COLUMNS;
}

/** Formats rows under headings; the last column takes the remaining room. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string[] {
  const all = [headings, ...rows.map((row) => row.map(safeLine))];
  const widths = headings.map((_, column) =>
    Math.max(...all.map((row) => widthOf(row[column] ?? ""))),
  );
  return all.map((row) =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : padTo(cell, widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

function padTo(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - widthOf(text)));
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

/** Micro-units; null is unknown, and must not look free. */
export function formatCost(costMicros: number | null): string {
  return costMicros === null ? "unpriced" : `$${(costMicros / 1e6).toFixed(4)}`;
}

const SIZES = ["B", "KiB", "MiB", "GiB", "TiB"];

export function formatBytes(bytes: number): string {
  const power = Math.min(SIZES.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  const amount = bytes / 1024 ** power;
  return `${power === 0 ? amount : amount.toFixed(1)} ${SIZES[power]}`;
}
