/** Skill input and texts. Pure. */
import type { ApiRoutes, BodyOf } from "#client/index.ts";
import type { ImportedSkill, SkillSource } from "#features/personas/contract.ts";
import { ApiError } from "#surfaces/web/kit/api/api-client.ts";

export type SkillImport = BodyOf<ApiRoutes["personas"]["importSkills"]>;

export interface ImportDraft {
  url: string;
  ref: string;
  path: string;
}

export const NO_IMPORT: ImportDraft = { url: "", ref: "", path: "" };

export function importBodyOf({ url, ref, path }: ImportDraft): SkillImport {
  return {
    url: url.trim(),
    ...(ref.trim() !== "" && { ref: ref.trim() }),
    ...(path.trim() !== "" && { path: path.trim() }),
  };
}

const FIELD: Readonly<Record<string, keyof ImportDraft>> = {
  url_invalid: "url",
  url_holds_credentials: "url",
  address_refused: "url",
  host_not_found: "url",
  import_failed: "url",
  ref_invalid: "ref",
  path_invalid: "path",
  no_skill_found: "path",
  too_many_skills: "path",
  skills_too_large: "path",
};

/** Returns the field that the server's refusal belongs to, if any. */
export function fieldOfImport(error: unknown): keyof ImportDraft | undefined {
  return error instanceof ApiError ? FIELD[error.code] : undefined;
}

export function importedWords(skills: readonly ImportedSkill[]): string {
  const isSame = skills.every(({ change }) => change === "unchanged");
  if (isSame) return `Already up to date: ${skills.map(({ name }) => name).join(", ")}.`;
  return `${skills.map(({ name, change }) => `${name} ${change}`).join(", ")}.`;
}

const HASH_CHARS = 12;

export function sourceWords(source: SkillSource | null, sha256: string): string {
  const hash = sha256.slice(0, HASH_CHARS);
  if (source === null) return `imported from files · ${hash}`;
  const { url, ref, path, commit } = source;
  const place = [url.replace(/^https:\/\//, ""), path].filter(Boolean).join(" › ");
  const at = `${ref === null ? "" : `${ref} at `}${commit.slice(0, HASH_CHARS)}`;
  return `${place} · ${at} · ${hash}`;
}
