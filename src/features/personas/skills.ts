/**
 * Skills: folders with a SKILL.md, whose front matter says what they are for. A skill is pinned by
 * a hash over all its files, so that nothing in it can change unseen.
 */
import { createHash } from "node:crypto";
import { Refusal } from "#base/refusal.ts";
import type { NewSkill, Skill } from "./contract.ts";

export const SKILL_FILE = "SKILL.md";
const MAX_DESCRIPTION_CHARS = 1_024;

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** Files in any order have one hash. */
export function hashOfSkill(files: readonly { path: string; content: string }[]): string {
  const lines = files.map(({ path, content }) => `${sha256(content)}  ${path}\n`);
  return sha256(lines.sort().join(""));
}

/** The skill as it is kept, or a refusal that says what its SKILL.md lacks. */
export function pinSkill({ name, files, sha256: expected }: NewSkill): Skill {
  const main = files.find(({ path }) => path === SKILL_FILE);
  if (!main) throw invalid(name, `has no ${SKILL_FILE} at its top. Add one`);
  const front = readFrontMatter(main.content);
  if (!front)
    throw invalid(
      name,
      `${SKILL_FILE} must begin with front matter: ---, name:, description:, ---`,
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
      `The files of the skill ${name} do not have the hash that was given. Look at them again, then give ${hash}.`,
    );
  const kept = files
    .map(({ path, content }) => ({ path, content }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  return { name, description, sha256: hash, files: kept };
}

function invalid(name: string, what: string): Refusal {
  return new Refusal("invalid", "skill_invalid", `The skill ${name} cannot be used: ${what}.`, {
    details: [{ path: "skills", message: `${name}: ${what}` }],
  });
}

/** Plain `key: value` lines between two `---`; quoted, folded (`>`) and literal (`|`) values too. */
export function readFrontMatter(text: string): Record<string, string> | undefined {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const end = lines.indexOf("---", 1);
  if (lines[0] !== "---" || end < 0) return undefined;
  // Without a prototype, so that `constructor` is a key like any other.
  const found: Record<string, string> = Object.create(null);
  let at = 1;
  while (at < end) {
    const match = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/.exec(lines[at] as string);
    at += 1;
    if (!match) continue;
    const [, key = "", value = ""] = match;
    const indented: string[] = [];
    while (at < end && /^(?:[ \t]|$)/.test(lines[at] as string)) {
      indented.push((lines[at] as string).trim());
      at += 1;
    }
    found[key] = readValue(value.trim(), indented);
  }
  return found;
}

function readValue(value: string, indented: readonly string[]): string {
  if (/^\|[+-]?$/.test(value)) return indented.join("\n").trim();
  const rest = indented.join(" ").replaceAll(/\s+/g, " ").trim();
  if (/^>[+-]?$/.test(value)) return rest;
  return unquoted(`${value} ${rest}`.trim());
}

function unquoted(value: string): string {
  const double = /^"((?:[^"\\]|\\.)*)"$/.exec(value)?.[1];
  if (double !== undefined) return double.replaceAll(/\\(["\\])/g, "$1").trim();
  const single = /^'((?:[^']|'')*)'$/.exec(value)?.[1];
  return (single?.replaceAll("''", "'") ?? value.replace(/\s#.*$/, "")).trim();
}
