/** Content of a version: settings, and files by their hashes. Content that is too large is refused here. */
import { notFound, Refusal } from "#base/refusal.ts";
import { byOrder } from "./compose.ts";
import {
  MAX_FILE_BYTES,
  MAX_FILES_BYTES,
  MAX_SKILL_FILES,
  MAX_SKILLS_BYTES,
  type PersonaFile,
  type PersonaRule,
  type Skill,
  type SkillSource,
} from "./contract.ts";
import { sha256 } from "./skills/skills.ts";

export interface Content {
  name: string;
  description: string;
  icon: string | null;
  model: string | null;
  runtime: string | null;
  enableMemory: boolean | null;
  toolPolicy: PersonaRule[];
  files: PersonaFile[];
  skills: Skill[];
}

/** Content with hashes in the place of texts. */
interface Manifest extends Omit<Content, "files" | "skills"> {
  files: { filename: string; sortOrder: number; sha256: string }[];
  skills: (Omit<Skill, "files" | "source"> & {
    /** Absent if the files were uploaded. */
    source?: SkillSource;
    files: { path: string; sha256: string }[];
  })[];
}

export interface Packed {
  /** Hash of the manifest: equal content has an equal hash. */
  sha256: string;
  manifest: string;
  /** Texts by their hashes. */
  texts: Map<string, string>;
}

/** Builds the manifest. The order of the input has no meaning, so it does not count. */
export function pack(content: Content): Packed {
  const texts = new Map<string, string>();
  const keep = (text: string) => {
    const hash = sha256(text);
    texts.set(hash, text);
    return hash;
  };
  const { name, description, icon, model, runtime, enableMemory } = content;
  const manifest: Manifest = {
    name,
    description,
    icon,
    model,
    runtime,
    enableMemory,
    toolPolicy: content.toolPolicy.map(({ tool, pattern, effect }) => ({ tool, pattern, effect })),
    files: content.files.toSorted(byOrder).map((file) => ({
      filename: file.filename,
      sortOrder: file.sortOrder,
      sha256: keep(file.content),
    })),
    skills: content.skills
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((skill) => ({
        name: skill.name,
        description: skill.description,
        sha256: skill.sha256,
        ...(skill.source === null ? {} : { source: skill.source }),
        files: skill.files.map((file) => ({ path: file.path, sha256: keep(file.content) })),
      })),
  };
  const text = JSON.stringify(manifest);
  return { sha256: sha256(text), manifest: text, texts };
}

export function hashesIn(manifestText: string): string[] {
  const { files, skills } = JSON.parse(manifestText) as Manifest;
  const all = [...files, ...skills.flatMap((skill) => skill.files)];
  return [...new Set(all.map((file) => file.sha256))];
}

export function unpack(manifestText: string, texts: ReadonlyMap<string, string>): Content {
  const manifest = JSON.parse(manifestText) as Manifest;
  const textOf = (hash: string) => {
    const text = texts.get(hash);
    // Deleted with its persona, between two reads.
    if (text === undefined) throw notFound("persona");
    return text;
  };
  return {
    ...manifest,
    files: manifest.files.map(({ filename, sortOrder, sha256: hash }) => ({
      filename,
      content: textOf(hash),
      sortOrder,
    })),
    skills: manifest.skills.map((skill) => ({
      ...skill,
      source: skill.source ?? null,
      files: skill.files.map(({ path, sha256: hash }) => ({ path, content: textOf(hash) })),
    })),
  };
}

const bytesOf = (text: string) => Buffer.byteLength(text, "utf8");
const sumOf = (texts: readonly { content: string }[]) =>
  texts.reduce((sum, { content }) => sum + bytesOf(content), 0);

export function requireFits(files: readonly PersonaFile[]): void {
  const large = files.find(({ content }) => bytesOf(content) > MAX_FILE_BYTES);
  if (large)
    throw tooLarge(`${large.filename} has more than ${MAX_FILE_BYTES} bytes. Split or shorten it.`);
  if (sumOf(files) > MAX_FILES_BYTES)
    throw tooLarge(`The files have more than ${MAX_FILES_BYTES} bytes in total. Remove some.`);
}

export function requireSkillsFit(
  skills: readonly { files: readonly { content: string }[] }[],
): void {
  const files = skills.flatMap((skill) => skill.files);
  if (files.length > MAX_SKILL_FILES)
    throw tooLarge(`The skills have more than ${MAX_SKILL_FILES} files in total. Remove some.`);
  if (sumOf(files) > MAX_SKILLS_BYTES)
    throw tooLarge(`The skills have more than ${MAX_SKILLS_BYTES} bytes in total. Remove some.`);
}

function tooLarge(message: string): Refusal {
  return new Refusal("too_large", "persona_too_large", message);
}
