/** Tool calls: a one-line summary and a one-word state. Pure. */
import { isRecord } from "#surfaces/web/kit/api/api-client.ts";
import { type DiffLine, diffOf } from "#surfaces/web/kit/text/diff.ts";
import type { ToolUse } from "../transcript/entry-from-event.ts";
import type { Row } from "../transcript/rows.ts";
import { callLine } from "./tool-words.ts";

export type ToolRowData = Extract<Row, { type: "tool" }>;

export type ToolState =
  | "preparing"
  | "running"
  | "waiting"
  | "done"
  | "failed"
  | "denied"
  | "interrupted"
  | "no result";

/** Copied because importing the protocol file would bundle its schemas; the compiler checks the value. */
const INTERRUPTED: typeof import("#protocol/events.ts").INTERRUPTED =
  "interrupted, outcome unknown";

export function stateOf({ use, phase, isRefused }: ToolRowData): ToolState {
  if (phase === "writing") return "preparing";
  if (isRefused) return "denied";
  if (phase === "running" || phase === "waiting") return phase;
  if (phase === "cut") return "no result";
  if (use.error === INTERRUPTED) return "interrupted";
  return use.error !== null || (use.exitCode ?? 0) !== 0 ? "failed" : "done";
}

export interface TodoItem {
  text: string;
  state: "pending" | "in_progress" | "done";
}

export function todoItems(input: unknown): TodoItem[] {
  const items = isRecord(input) && Array.isArray(input.items) ? input.items : [];
  return items.filter(isTodoItem);
}

function isTodoItem(value: unknown): value is TodoItem {
  return isRecord(value) && typeof value.text === "string" && typeof value.state === "string";
}

/** Returns the diff of an edit or a write, as far as the call itself tells; undefined for other tools. */
export function changeOf(use: ToolUse): DiffLine[] | undefined {
  const input = isRecord(use.input) ? use.input : {};
  if (use.name === "write" && typeof input.content === "string") return diffOf("", input.content);
  if (use.name !== "edit" || !Array.isArray(input.edits)) return undefined;
  const edits = input.edits.filter(isRecord);
  return edits.flatMap((edit, at) => {
    const lines = diffOf(textIn(edit, "oldText"), textIn(edit, "newText"));
    return at === 0 ? lines : [{ kind: "hunk" as const, old: null, new: null, text: "" }, ...lines];
  });
}

export function headline(use: ToolUse): string {
  const input = isRecord(use.input) ? use.input : {};
  switch (use.name) {
    case "read":
      return `${textIn(input, "path")}${rangeWords(input)}`;
    case "glob":
    case "grep": {
      const path = textIn(input, "path");
      return `${textIn(input, "pattern")}${path === "" ? "" : ` in ${path}`}`;
    }
    case "web_fetch":
      return addressWords(textIn(input, "url"));
    case "todo": {
      const items = todoItems(use.input);
      const done = items.filter(({ state }) => state === "done").length;
      return items.length === 0 ? "no items" : `${done} of ${items.length} done`;
    }
    case "processes":
      return [textIn(input, "action"), textIn(input, "id")].join(" ").trim();
    default:
      return callLine(use.input);
  }
}

function rangeWords(input: Record<string, unknown>): string {
  const { offset, limit } = input;
  if (typeof offset !== "number") return "";
  return typeof limit === "number" ? `:${offset}–${offset + limit - 1}` : `:${offset}–`;
}

/** Puts the host first, because it matters most about an address. */
function addressWords(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined) return url;
  const rest = `${parsed.pathname}${parsed.search}`;
  return rest === "/" ? parsed.host : `${parsed.host} ${rest}`;
}

function textIn(input: Record<string, unknown>, name: string): string {
  const value = input[name];
  return typeof value === "string" ? value : "";
}
