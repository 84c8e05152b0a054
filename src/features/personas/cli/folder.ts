/**
 * A persona as a folder: `persona.json` with its settings (optional), one file for each of its files,
 * and `skills/NAME/` for each skill. Links and hidden files are skipped: only files that are visible in
 * the folder are sent.
 */
import { lstat, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import {
  MAX_FILE_BYTES,
  MAX_FILES,
  MAX_SKILL_FILES,
  MAX_SKILLS_BYTES,
  type NewPersona,
  newPersonaSchema,
  readFrontMatter,
  SKILL_FILE,
} from "#features/personas/contract.ts";

const SETTINGS = "persona.json";
const SKILLS = "skills";
const MAX_DEPTH = 10;

const {
  files: _files,
  skills: _skills,
  isDefault: _default,
  ...settingsShape
} = newPersonaSchema.shape;
const settingsSchema = z
  .strictObject({
    ...settingsShape,
    /** Sort order by file name; files without an entry have 0. */
    sortOrder: z.record(z.string(), z.number().int()),
  })
  .partial();

/** Contents of a folder; settings that it does not name are left out. */
export type FolderPersona = Pick<NewPersona, "files" | "skills"> & Partial<NewPersona>;

export async function readPersonaFolder(path: string): Promise<FolderPersona> {
  const folder = resolve(path);
  const entries = await visibleEntries(folder);
  const { sortOrder = {}, ...settings } = await readSettings(folder, entries);
  const files = [];
  for (const filename of entries) {
    if (filename === SETTINGS || filename === SKILLS) continue;
    if (files.length === MAX_FILES) throw tooMany(MAX_FILES, "files");
    const content = await readText(join(folder, filename), MAX_FILE_BYTES);
    files.push({ filename, content, sortOrder: sortOrder[filename] ?? 0 });
  }
  const skills = entries.includes(SKILLS) ? await readSkills(join(folder, SKILLS)) : [];
  return { ...settings, files, skills };
}

async function readSettings(folder: string, entries: readonly string[]) {
  if (!entries.includes(SETTINGS)) return {};
  const path = join(folder, SETTINGS);
  const parsedJson = parseJson(path, await readText(path, MAX_FILE_BYTES));
  const parsed = settingsSchema.safeParse(parsedJson);
  if (!parsed.success) throw invalid(path, z.prettifyError(parsed.error));
  // Only the given settings: an absent one must not reset the persona's setting in an edit.
  const names = new Set(Object.keys(parsedJson as object));
  return Object.fromEntries(
    Object.entries(parsed.data).filter(([name]) => names.has(name)),
  ) as Partial<NewPersona> & { sortOrder?: Record<string, number> };
}

/** Reads one skill if the folder has a SKILL.md, else those of its subfolders that have one. */
export async function readSkillsIn(path: string): Promise<NewPersona["skills"]> {
  const folder = resolve(path);
  const entries = await visibleEntries(folder);
  const room = { files: MAX_SKILL_FILES };
  if (entries.includes(SKILL_FILE)) return [await readSkill(folder, room)];
  const skills = [];
  for (const name of entries) {
    const inner = join(folder, name);
    const isFolder = (await lstat(inner)).isDirectory();
    if (isFolder && (await visibleEntries(inner)).includes(SKILL_FILE))
      skills.push(await readSkill(inner, room));
  }
  if (skills.length === 0) throw invalid(folder, `has no ${SKILL_FILE}, and no folder with one`);
  return skills;
}

async function readSkill(folder: string, room: { files: number }) {
  const files = await readTree(folder, "", room);
  const main = files.find((file) => file.path === SKILL_FILE);
  // The server reports a missing name.
  const name = readFrontMatter(main?.content ?? "")?.name ?? basename(folder);
  return { name, files };
}

async function readSkills(folder: string): Promise<NewPersona["skills"]> {
  const skills = [];
  const room = { files: MAX_SKILL_FILES };
  for (const name of await visibleEntries(folder))
    skills.push({ name, files: await readTree(join(folder, name), "", room) });
  return skills;
}

async function readTree(
  folder: string,
  prefix: string,
  room: { files: number },
): Promise<{ path: string; content: string }[]> {
  if (prefix.split("/").length > MAX_DEPTH) throw invalid(folder, "has too many folders");
  const files = [];
  for (const name of await visibleEntries(folder)) {
    const at = join(folder, name);
    const path = `${prefix}${name}`;
    if ((await lstat(at)).isDirectory()) {
      files.push(...(await readTree(at, `${path}/`, room)));
      continue;
    }
    if (room.files-- === 0) throw tooMany(MAX_SKILL_FILES, "files of skills");
    files.push({ path, content: await readText(at, MAX_SKILLS_BYTES) });
  }
  return files;
}

async function visibleEntries(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => !name.startsWith(".")).sort();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    const what = code === "ENOENT" ? "does not exist" : `cannot be read as a folder (${code})`;
    throw invalid(folder, what, error);
  }
}

async function readText(path: string, maxBytes: number): Promise<string> {
  const seen = await lstat(path);
  if (!seen.isFile()) throw invalid(path, "is not a plain file; links are not followed");
  if (seen.size > maxBytes) throw invalid(path, `has more than ${maxBytes} bytes`);
  const bytes = await readFile(path);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw invalid(path, "is not text in UTF-8", error);
  }
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(path, "is not valid JSON", error);
  }
}

function invalid(path: string, what: string, cause?: unknown): Refusal {
  const message = `${path} ${what}. Correct it and try again.`;
  return new Refusal("invalid", "folder_invalid", message, { cause });
}

function tooMany(count: number, what: string): Refusal {
  return new Refusal("invalid", "folder_invalid", `There are more than ${count} ${what}.`);
}

/** Writes a persona into a folder that is new or empty: nothing is overwritten. */
export async function writePersonaFolder(path: string, persona: NewPersona): Promise<string> {
  const folder = resolve(path);
  // Names come from a server and become paths here, so they are checked here too.
  const parsed = newPersonaSchema.safeParse(persona);
  if (!parsed.success)
    throw new Refusal(
      "unsupported",
      "export_invalid",
      `Nothing was written: the server sent a persona that is not valid: ${z.prettifyError(parsed.error)}`,
    );
  const { files, skills, ...settings } = parsed.data;
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0)
    throw new Refusal("conflict", "folder_not_empty", `${folder} is not empty. Name a new folder.`);
  const sortOrder = Object.fromEntries(files.map((file) => [file.filename, file.sortOrder]));
  const settingsText = `${JSON.stringify({ ...settings, sortOrder }, null, 2)}\n`;
  await writeNew(join(folder, SETTINGS), settingsText);
  for (const { filename, content } of files) await writeNew(join(folder, filename), content);
  for (const { name, files: ofSkill } of skills)
    for (const { path: at, content } of ofSkill)
      await writeNew(join(folder, SKILLS, name, ...at.split("/")), content);
  return folder;
}

async function writeNew(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content, { flag: "wx" });
}
