/**
 * Finds the skills of a repository and their files. Pure. Files are taken unchanged or refused with a
 * reason; hidden ones are left out, as from a folder.
 */
import { Refusal } from "#base/refusal.ts";
import { MAX_SKILL_FILES, MAX_SKILLS, MAX_SKILLS_BYTES } from "../contract.ts";
import { faultOfPath, findFileAsFolder, findRepeatedName } from "../names.ts";
import { SKILL_FILE } from "../skills/front-matter.ts";
import type { TreeEntry } from "./fetch-tree.ts";

export interface FoundSkill {
  /** Path below the searched folder; empty: that folder itself. */
  folder: string;
  files: { path: string; object: string }[];
}

const LINK = "120000";
const OTHER_REPOSITORY = "160000";
const NAMED = 10;

export function findSkills(entries: readonly TreeEntry[]): FoundSkill[] {
  const folders = skillFolders(entries);
  if (folders.length === 0)
    throw new Refusal(
      "invalid",
      "no_skill_found",
      `There is no ${SKILL_FILE} in it. Name the folder that has one as path, or another ref.`,
    );
  if (folders.length > MAX_SKILLS)
    throw new Refusal(
      "invalid",
      "too_many_skills",
      `There are ${folders.length} skills in it, and a persona has at most ${MAX_SKILLS}. Name a folder as path, such as ${folders.slice(0, NAMED).join(", ")}.`,
    );
  const found = folders.map((folder) => skillIn(folder, entries));
  requireSize(found.flatMap(({ taken }) => taken));
  return found.map(({ folder, taken }) => ({
    folder,
    files: taken.map(({ path, object }) => ({ path, object })),
  }));
}

/** Lists the folders of skills. A SKILL.md inside the folder of another skill belongs to that skill. */
function skillFolders(entries: readonly TreeEntry[]): string[] {
  const folders: string[] = [];
  const all = entries
    .filter(({ path }) => path === SKILL_FILE || path.endsWith(`/${SKILL_FILE}`))
    .map(({ path }) => path.slice(0, -SKILL_FILE.length).replace(/\/$/, ""))
    .sort();
  for (const folder of all) {
    const isInside = folders.some((outer) => outer === "" || folder.startsWith(`${outer}/`));
    if (!isInside) folders.push(folder);
  }
  return folders;
}

function skillIn(folder: string, entries: readonly TreeEntry[]) {
  const prefix = folder === "" ? "" : `${folder}/`;
  const taken = entries
    .filter(({ path }) => path.startsWith(prefix))
    .map((entry) => ({ ...entry, path: entry.path.slice(prefix.length) }))
    .filter(({ path }) => !path.split("/").some((part) => part.startsWith(".")));
  const called = folder === "" ? "The skill" : `The skill in ${folder}`;
  for (const entry of taken) {
    const fault = faultOf(entry);
    if (fault !== undefined)
      throw invalid(`${called} cannot be used: ${entry.path} ${fault}. Change it at its source.`);
  }
  const paths = taken.map(({ path }) => path);
  const twice = findRepeatedName(paths) ?? findFileAsFolder(paths);
  if (twice !== undefined)
    throw invalid(`${called} cannot be used: ${twice} appears twice, with different capitals.`);
  return { folder, taken };
}

function faultOf({ mode, path }: TreeEntry): string | undefined {
  if (mode === LINK) return "is a link, and links are not followed";
  if (mode === OTHER_REPOSITORY) return "is a repository of its own (a submodule)";
  return faultOfPath(path);
}

function requireSize(files: readonly TreeEntry[]): void {
  const bytes = files.reduce((sum, file) => sum + (file.bytes ?? 0), 0);
  if (files.length <= MAX_SKILL_FILES && bytes <= MAX_SKILLS_BYTES) return;
  throw new Refusal(
    "too_large",
    "skills_too_large",
    `Its skills have ${files.length} files with ${bytes} bytes; the limit is ${MAX_SKILL_FILES} files and ${MAX_SKILLS_BYTES} bytes. Name a folder with fewer as path.`,
  );
}

/** Decodes text and refuses everything else: nobody could read it before an agent does. */
export function textOf(path: string, bytes: Buffer): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes("\u0000")) return text;
  } catch {
    // Refused below.
  }
  throw invalid(`${path} is not text in UTF-8. Skills are text; change it at its source.`);
}

export function invalid(message: string): Refusal {
  return new Refusal("invalid", "skill_invalid", message);
}
