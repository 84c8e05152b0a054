/** Imports skills from a git repository: fetches them, checks them, and pins them to their commit. */
import { Refusal } from "#base/refusal.ts";
import type { ImportedSkill, Skill, SkillImport, SkillSource } from "../contract.ts";
import { faultOfSkillName, findRepeatedName } from "../names.ts";
import { readFrontMatter, SKILL_FILE } from "../skills/front-matter.ts";
import { pinSkill } from "../skills/skills.ts";
import { type FetchedTree, type FetchOptions, withFetchedTree } from "./fetch-tree.ts";
import { type FoundSkill, findSkills, invalid, textOf } from "./find-skills.ts";
import {
  type AddressRights,
  parseSkillAddress,
  resolveSkillAddress,
  type SkillAddress,
} from "./skill-address.ts";

/** Maximum of parallel imports: each holds a process and some disk. */
const MAX_AT_ONCE = 2;
const RETRY_AFTER_MS = 5_000;

export type SkillFetcher = (request: SkillImport, rights: AddressRights) => Promise<Skill[]>;

export function createSkillFetcher(options: FetchOptions): SkillFetcher {
  let running = 0;
  return async (request, rights) => {
    const address = parseSkillAddress(request);
    if (running >= MAX_AT_ONCE) throw busy();
    running += 1;
    try {
      const ip = await resolveSkillAddress(address, rights);
      return await withFetchedTree(address, ip, options, (tree) => readSkills(tree, address));
    } finally {
      running -= 1;
    }
  };
}

async function readSkills(tree: FetchedTree, address: SkillAddress): Promise<Skill[]> {
  const found = findSkills(tree.entries);
  const texts = await tree.read(found.flatMap(({ files }) => files.map(({ object }) => object)));
  let at = 0;
  const skills = found.map((skill) => {
    const files = skill.files.map(({ path }) => ({
      path,
      content: textOf([skill.folder, path].filter(Boolean).join("/"), texts[at++] as Buffer),
    }));
    return pinSkill({ name: nameOf(skill, files), files }, sourceOf(skill, tree, address));
  });
  const repeated = findRepeatedName(skills.map(({ name }) => name));
  if (repeated === undefined) return skills;
  throw invalid(`Two of its skills are named ${repeated}. Name the folder of one as path.`);
}

/** Returns the name in the front matter: a folder at the top of a repository has no name. */
function nameOf(
  { folder }: FoundSkill,
  files: readonly { path: string; content: string }[],
): string {
  const main = files.find(({ path }) => path === SKILL_FILE);
  const name = main && readFrontMatter(main.content)?.name;
  const where = folder === "" ? SKILL_FILE : `${folder}/${SKILL_FILE}`;
  if (!name) throw invalid(`${where} must start with front matter: ---, name:, description:, ---.`);
  const fault = faultOfSkillName(name);
  if (fault !== undefined) throw invalid(`The name in ${where} ${fault}.`);
  return name;
}

function sourceOf(
  { folder }: FoundSkill,
  { commit }: FetchedTree,
  { url, ref, path }: SkillAddress,
): SkillSource {
  return { url, ref, path: [path, folder].filter(Boolean).join("/"), commit };
}

/** Merges imported skills into those of a persona; skills with other names stay unchanged. */
export function mergeSkills(was: readonly Skill[], imported: readonly Skill[]): Skill[] {
  const names = new Set(imported.map(({ name }) => name));
  const others = was.filter(({ name }) => !names.has(name));
  return [...others, ...imported.map((skill) => keptOr(was, skill))];
}

/** Keeps the first commit for the same files from the same source. */
function keptOr(was: readonly Skill[], skill: Skill): Skill {
  const before = was.find(({ name }) => name === skill.name);
  const isSame = before?.sha256 === skill.sha256 && isSamePlace(before.source, skill.source);
  return isSame ? before : skill;
}

function isSamePlace(one: SkillSource | null, other: SkillSource | null): boolean {
  return one?.url === other?.url && one?.ref === other?.ref && one?.path === other?.path;
}

export function changesOf(was: readonly Skill[], imported: readonly Skill[]): ImportedSkill[] {
  return imported.map((skill) => {
    const before = was.find(({ name }) => name === skill.name);
    const { name, description, sha256, source } = keptOr(was, skill);
    const change = !before ? "added" : before.sha256 === sha256 ? "unchanged" : "changed";
    return { name, description, sha256, source, change };
  });
}

function busy(): Refusal {
  return new Refusal(
    "limit",
    "imports_busy",
    "Other skills are being fetched. Try again in a moment.",
    { retryAfterMs: RETRY_AFTER_MS },
  );
}
