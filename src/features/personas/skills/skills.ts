/**
 * Skills: folders with a SKILL.md, whose front matter describes their purpose. A skill is pinned by a
 * hash over all its files, so that no change goes unnoticed.
 */
import { createHash } from "node:crypto";
import { Refusal } from "#base/refusal.ts";
import type { NewSkill, Skill, SkillSource } from "../contract.ts";
import { readFrontMatter, SKILL_FILE } from "./front-matter.ts";

const MAX_DESCRIPTION_CHARS = 1_024;

/** Keeps the known source of skills whose files are unchanged. */
export function keepSources(skills: readonly Skill[], was: readonly Skill[]): Skill[] {
  return skills.map((skill) => {
    const before = was.find(({ name }) => name === skill.name);
    const isKnown = skill.source === null && before?.sha256 === skill.sha256;
    return isKnown ? { ...skill, source: before.source } : skill;
  });
}

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** Hashes the files of a skill, independent of their order. */
export function hashOfSkill(files: readonly { path: string; content: string }[]): string {
  const lines = files.map(({ path, content }) => `${sha256(content)}  ${path}\n`);
  return sha256(lines.sort().join(""));
}

/** Returns the skill as it is stored, or refuses and names what its SKILL.md lacks. */
export function pinSkill(
  { name, files, sha256: expected }: NewSkill,
  source: SkillSource | null = null,
): Skill {
  const main = files.find(({ path }) => path === SKILL_FILE);
  if (!main) throw invalid(name, `has no ${SKILL_FILE} at the top level. Add one`);
  const front = readFrontMatter(main.content);
  if (!front)
    throw invalid(
      name,
      `${SKILL_FILE} must start with front matter: ---, name:, description:, ---`,
    );
  if (front.name !== name)
    throw invalid(name, `${SKILL_FILE} must have "name: ${name}" in its front matter`);
  const description = front.description ?? "";
  if (description === "" || description.length > MAX_DESCRIPTION_CHARS)
    throw invalid(
      name,
      `${SKILL_FILE} must have a description of 1 to ${MAX_DESCRIPTION_CHARS} characters in its front matter`,
    );
  const hash = hashOfSkill(files);
  if (expected !== undefined && expected !== hash)
    throw new Refusal(
      "conflict",
      "skill_hash_differs",
      `The files of the skill ${name} do not match the given hash. Check them, then send ${hash}.`,
    );
  const kept = files
    .map(({ path, content }) => ({ path, content }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  return { name, description, sha256: hash, source, files: kept };
}

function invalid(name: string, what: string): Refusal {
  return new Refusal("invalid", "skill_invalid", `The skill ${name} cannot be used: ${what}.`, {
    details: [{ path: "skills", message: `${name}: ${what}` }],
  });
}
