/** Searchable text of a transcript entry. Pure. */
import type { EntryRow } from "./entry-queries.ts";

/** Maximum of a tool's input and of its output: the beginning identifies a call. */
const MAX_TOOL_CHARS = 4_000;

/**
 * Returns the text of an entry; undefined if it is not searchable. A tool call is found by its end,
 * which has all of it; reasoning is not searchable.
 */
export function textOfEntry(row: EntryRow): string | undefined {
  if (row.entry_id === null || row.redacted_at !== null) return undefined;
  if (row.kind === "reasoning") return undefined;
  switch (row.type) {
    case "message":
    case "notice":
      return words(row.content, "text").trim() || undefined;
    case "post_tool":
      return textOfCall(row);
    default:
      return undefined;
  }
}

function textOfCall({ tool_name, tool_input, tool_output, error }: EntryRow): string {
  const parts = [
    tool_name ?? "",
    words(tool_input).slice(0, MAX_TOOL_CHARS),
    words(tool_output).slice(0, MAX_TOOL_CHARS),
    error ?? "",
  ];
  return parts.filter((part) => part !== "").join("\n");
}

/** Collects the strings in JSON that may be cut off anywhere; with `only`, those under that name. */
function words(json: string | null, only?: string): string {
  if (json === null) return "";
  try {
    return stringsIn(JSON.parse(json), only).join("\n");
  } catch {
    // The text was cut off, or is no JSON: its signs mean nothing to a reader.
    const values = only === undefined ? [] : [...json.matchAll(valuesOf(only))];
    const texts = values.length === 0 ? [json] : values.map(([, value = ""]) => value);
    return texts.map((text) => text.replaceAll(ESCAPED, unescaped)).join("\n");
  }
}

const ESCAPED = /\\u([0-9a-f]{4})|\\(.)/gi;
/** Matches the strings under this name; the last may have no end. */
const valuesOf = (name: string) => new RegExp(`"${name}":"((?:[^"\\\\]|\\\\.)*)`, "g");

function unescaped(_all: string, code: string | undefined, sign: string | undefined): string {
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return sign !== undefined && /[nrtbf]/.test(sign) ? " " : (sign ?? "");
}

const MAX_DEPTH = 20;

function stringsIn(value: unknown, only: string | undefined, depth = 0): string[] {
  if (typeof value === "string") return only === undefined || depth === 0 ? [value] : [];
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH)
    return typeof value === "number" && only === undefined ? [String(value)] : [];
  if (Array.isArray(value)) return value.flatMap((item) => stringsIn(item, only, depth + 1));
  return Object.entries(value).flatMap(([name, item]) => {
    if (only !== undefined && typeof item === "string") return name === only ? [item] : [];
    return stringsIn(item, only, depth + 1);
  });
}
