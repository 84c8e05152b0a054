import { isRecord } from "#surfaces/web/kit/api/api-client.ts";

/** A tool call in one line, and its parts as text. Pure. */

/** Input fields that say most about a call, in order. */
const MAIN_FIELDS = [
  "command",
  "cmd",
  "path",
  "file_path",
  "filePath",
  "file",
  "query",
  "pattern",
  "url",
  "title",
  "to",
];
const LINE_LENGTH = 160;

export function callLine(input: unknown): string {
  const text = mainField(input);
  const line = text.replace(/[ \t\n]+/g, " ").trim();
  return line.length > LINE_LENGTH ? `${line.slice(0, LINE_LENGTH)}…` : line;
}

function mainField(input: unknown): string {
  if (typeof input === "string") return input;
  if (!isRecord(input)) return input === null || input === undefined ? "" : JSON.stringify(input);
  for (const name of MAIN_FIELDS) {
    const value = input[name];
    if (typeof value === "string" && value !== "") return value;
  }
  const first = Object.values(input).find((value) => typeof value === "string" && value !== "");
  if (typeof first === "string") return first;
  return Object.keys(input).length === 0 ? "" : JSON.stringify(input);
}

/** Keeps text, joins the text of MCP-like content blocks, and formats everything else as JSON. */
export function asText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  const blocks = isRecord(value) && Array.isArray(value.content) ? value.content : value;
  if (Array.isArray(blocks) && blocks.length > 0 && blocks.every(isTextBlock)) {
    return blocks.map((block) => block.text).join("\n");
  }
  return JSON.stringify(value, null, 2);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences start with a control character
const COLOURS = /\u001b\[[0-9;]*m/g;

/** Removes terminal colours from a program's output. */
export function withoutColours(text: string): string {
  return text.replace(COLOURS, "").replaceAll("\r\n", "\n");
}

function isTextBlock(value: unknown): value is { text: string } {
  return isRecord(value) && value.type === "text" && typeof value.text === "string";
}
