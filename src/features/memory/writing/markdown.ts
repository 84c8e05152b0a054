/**
 * Converts a memory to a markdown file and back. The text depends on the memory alone, not on the time
 * or place of the export, so that two exports can be compared and one can be kept in git. Pure.
 */
import { createHash } from "node:crypto";
import { cleanText } from "#base/text/clean-text.ts";
import {
  categoryInput,
  contentInput,
  DEFAULT_CATEGORY,
  type MemoryFile,
  titleInput,
} from "../contract.ts";

export interface FileMemory {
  category: string;
  title: string | null;
  content: string;
  pinned: boolean;
  createdAt: number | null;
  updatedAt: number | null;
  fadesAt: number | null;
}

const MAX_SLUG_CHARS = 40;
const HASH_CHARS = 10;

export function toFile(memory: FileMemory): MemoryFile {
  const { category, title, content, pinned } = memory;
  const lines = [`category: ${JSON.stringify(category)}`];
  if (title !== null) lines.push(`title: ${JSON.stringify(title)}`);
  if (pinned) lines.push("pinned: true");
  for (const [name, at] of Object.entries({
    created: memory.createdAt,
    updated: memory.updatedAt,
    fades: memory.fadesAt,
  }))
    if (at !== null) lines.push(`${name}: ${new Date(at).toISOString()}`);
  return {
    path: pathOf(memory),
    content: `---\n${lines.join("\n")}\n---\n${content}\n`,
  };
}

function pathOf({ category, title, content }: FileMemory): string {
  const folder = slugOf(category) || `category-${hashOf(category)}`;
  const name = slugOf(title ?? content) || "memory";
  return `${folder}/${name}-${hashOf(JSON.stringify([category, title, content]))}.md`;
}

function slugOf(text: string): string {
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[\u0300-\u036f]/g, "")
    .slice(0, MAX_SLUG_CHARS * 4)
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_SLUG_CHARS)
    .replaceAll(/^-+|-+$/g, "");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, HASH_CHARS);
}

/** Parses a file, or gives the reason why it cannot be imported. */
export function fromFile({ content: text }: MemoryFile): FileMemory | { reason: string } {
  const { fields, body } = split(cleanText(text));
  const category = categoryInput.safeParse(fields.get("category") ?? DEFAULT_CATEGORY);
  const title = titleInput.nullable().safeParse(fields.get("title") ?? null);
  const content = contentInput.safeParse(body);
  for (const [name, { error }] of Object.entries({ category, title, content }))
    if (error) return { reason: `Its ${name} ${error.issues[0]?.message ?? "does not fit"}.` };
  return {
    category: category.data as string,
    title: title.data as string | null,
    content: content.data as string,
    pinned: fields.get("pinned") === "true",
    createdAt: instantOf(fields.get("created")),
    updatedAt: instantOf(fields.get("updated")),
    fadesAt: instantOf(fields.get("fades")),
  };
}

/**
 * Splits off the front matter. A file without it is all content;
 * the last line break of a text file is not content.
 */
function split(text: string): { fields: Map<string, string>; body: string } {
  const match = /^\ufeff?---\r?\n((?:[^\n]*\n)*?)---(?:\r?\n|$)/.exec(text);
  const fields = new Map<string, string>();
  for (const line of match?.[1]?.split(/\r?\n/) ?? []) {
    const field = /^([A-Za-z][\w-]*):[ \t]*([^\n]*)$/.exec(line);
    if (field)
      fields.set((field[1] as string).toLowerCase(), readValue((field[2] as string).trim()));
  }
  return { fields, body: text.slice(match?.[0].length ?? 0).replace(/\r?\n$/, "") };
}

/** Reads a value as the export writes it, or as a person does. */
function readValue(text: string): string {
  if (!text.startsWith('"')) return text.replaceAll(/^'(.*)'$/g, "$1");
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

function instantOf(text: string | undefined): number | null {
  const at = Date.parse(text ?? "");
  return Number.isFinite(at) ? at : null;
}
