/** The edit tool: replaces exact pieces of a text file, all of them or none. */
import type * as z from "zod";
import { isSecretPath } from "#protocol/names/secret-paths.ts";
import { editInput } from "#protocol/tools.ts";
import { createTool, ToolProblem } from "../perform-tool.ts";
import type { RunnerTool } from "../tool.ts";
import { type ConfinedFiles, filesOf } from "./confined-files.ts";

const MAX_EDITED_BYTES = 10 * 1024 ** 2;
const MAX_MATCHES = 100_000;
const BOM = "\ufeff";

type Edit = z.infer<typeof editInput>["edits"][number];

export function createEditTool(): RunnerTool {
  return createTool("edit", editInput, async (context, { path, edits }) => {
    const files = filesOf(await context.workspace());
    const { text, shown } = await readText(files, path);
    const { text: edited, replacements } = isSecretPath(shown)
      ? applyBlindly(text, edits, shown, path)
      : applyEdits(text, edits, shown);
    await files.replace(path, edited);
    const times = replacements === 1 ? "1 place" : `${replacements} places`;
    return { output: `Edited ${shown} in ${times}.`, error: null };
  });
}

async function readText(files: ConfinedFiles, path: string) {
  const opened = await files.open(path);
  if (opened.kind === "folder") {
    await opened.folder.handle.close();
    throw new ToolProblem(`${opened.shown} is a folder. Name a file.`);
  }
  const { handle, stats, shown } = opened;
  try {
    if (stats.size > MAX_EDITED_BYTES) throw tooLarge(shown, stats.size);
    const buffer = Buffer.alloc(stats.size + 1);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    if (bytesRead > stats.size) throw new ToolProblem(`${shown} is being written to. Try again.`);
    return { text: decode(buffer.subarray(0, bytesRead), shown), shown };
  } finally {
    await handle.close();
  }
}

function tooLarge(shown: string, size: number): ToolProblem {
  return new ToolProblem(
    `${shown} has ${size} bytes; at most ${MAX_EDITED_BYTES} can be edited. Use bash, such as sed.`,
  );
}

function decode(bytes: Buffer, shown: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolProblem(`${shown} is not UTF-8 text. Change it with bash.`);
  }
}

/**
 * Edits a file of secrets without naming the reason of a failure, since each reason would reveal
 * some of its content. A file reached by another name was never asked about.
 */
function applyBlindly(text: string, edits: readonly Edit[], shown: string, path: string) {
  if (!isSecretPath(path))
    throw new ToolProblem(
      `${path} leads to ${shown}, which usually contains secrets. Name that file itself.`,
    );
  try {
    return applyEdits(text, edits, shown);
  } catch (error) {
    if (!(error instanceof ToolProblem)) throw error;
    throw new ToolProblem(
      `The edit could not be made; nothing was changed. ${shown} usually contains secrets, so no details are shown: ask the person to change it.`,
    );
  }
}

/**
 * Applies edits, each on the result of the one before. Line ends and a byte order mark stay as they
 * are.
 */
export function applyEdits(text: string, edits: readonly Edit[], shown: string) {
  const mark = text.startsWith(BOM) ? BOM : "";
  let body = text.slice(mark.length);
  const isCrlf = body.includes("\r\n") && !/(?<!\r)\n/.test(body);
  let replacements = 0;
  for (const [index, edit] of edits.entries()) {
    const which = edits.length === 1 ? "The edit" : `Edit ${index + 1} of ${edits.length}`;
    const oldText = isCrlf ? toCrlf(edit.oldText) : edit.oldText;
    const newText = isCrlf ? toCrlf(edit.newText) : edit.newText;
    const matches = countMatches(body, oldText);
    const problem = judgeEdit({ body, oldText, newText, matches, all: edit.all === true }, shown);
    if (problem) throw new ToolProblem(`${which} ${problem}`);
    body = body.split(oldText).join(newText);
    replacements += matches;
  }
  return { text: mark + body, replacements };
}

interface JudgedEdit {
  body: string;
  oldText: string;
  newText: string;
  matches: number;
  all: boolean;
}

/** Problem with an edit, as the rest of a sentence; null if it can be made. */
function judgeEdit(edit: JudgedEdit, shown: string): string | null {
  const { body, oldText, newText, matches, all } = edit;
  if (oldText === newText) return "changes nothing: oldText and newText are the same.";
  if (matches === 0) {
    return `has no match: its oldText is not in ${shown}; nothing was changed. ${hintAt(body, oldText)}`;
  }
  if (matches > 1 && !all) {
    return `matches ${matches} places in ${shown}; nothing was changed. Give more of the text around the right one, or set all: true.`;
  }
  const length = body.length + matches * (newText.length - oldText.length);
  if (length > MAX_EDITED_BYTES || matches > MAX_MATCHES) {
    return `changes too much of ${shown} at once. Use bash, such as sed.`;
  }
  return null;
}

function countMatches(body: string, oldText: string): number {
  let count = 0;
  for (let at = body.indexOf(oldText); at >= 0; at = body.indexOf(oldText, at + oldText.length)) {
    count++;
  }
  return count;
}

function toCrlf(text: string): string {
  return text.replaceAll(/\r?\n/g, "\r\n");
}

function hintAt(body: string, oldText: string): string {
  const wanted = oldText.trim().split("\n", 1)[0]?.trim() ?? "";
  const line = wanted ? body.split("\n").findIndex((one) => one.trim() === wanted) : -1;
  return line < 0
    ? "Read the file again and copy the text exactly."
    : `Line ${line + 1} looks like its beginning: check spaces, indentation and the following lines.`;
}
