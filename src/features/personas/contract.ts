/** Personas on the wire, their limits and their routes. */
import * as z from "zod";
import { isStorable } from "#base/text/clean-text.ts";
import { UNSTORABLE } from "#base/text/text-schemas.ts";
import { MAX_GLOB_CHARS, newRuleSchema } from "#features/policy/contract.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { isoTime, pageOf, pageQuery } from "#protocol/page.ts";
import { faultOfFilename, findRepeatedName, SLUG } from "./names.ts";
import {
  checkedBy,
  fileContent,
  ifVersion,
  importedSkillSchema,
  skillChangeSchema,
  skillImportSchema,
  skillSchema,
  skillSummarySchema,
  skillsSchema,
} from "./skills/skill-schemas.ts";

export { readFrontMatter, SKILL_FILE } from "./skills/front-matter.ts";
export {
  type ImportedSkill,
  MAX_SKILL_FILES,
  MAX_SKILLS,
  MAX_SKILLS_BYTES,
  type NewSkill,
  type Skill,
  type SkillImport,
  type SkillSource,
  type SkillSummary,
} from "./skills/skill-schemas.ts";

export const MAX_FILES = 50;
export const MAX_FILE_BYTES = 256 * 1024;
export const MAX_FILES_BYTES = 1024 * 1024;
const MAX_POLICY_RULES = 100;

export const VISIBILITIES = ["private", "shared"] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** Text for people, on one line. */
const line = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .regex(/^[^\p{Cc}\u2028\u2029]*$/u, "must be one line")
    .refine(isStorable, UNSTORABLE);

export const personaFileSchema = z.strictObject({
  filename: z.string().superRefine(checkedBy(faultOfFilename)),
  content: fileContent,
  /** Smaller numbers come first; equal ones are sorted by name. */
  sortOrder: z.number().int().min(0).max(1_000_000).default(0),
});
export type PersonaFile = z.infer<typeof personaFileSchema>;

const filesSchema = z
  .array(personaFileSchema)
  .max(MAX_FILES)
  .superRefine((files, context) => {
    const repeated = findRepeatedName(files.map(({ filename }) => filename));
    if (repeated !== undefined)
      context.addIssue({ code: "custom", message: `${repeated} appears twice` });
  });

/**
 * Requires a complete host: `https://example.org*` would also match
 * `https://example.org.elsewhere.net`.
 */
const NAMES_HOST = /^(?:\*|https?:\/\/(?:\*\.)?[^*?/@]+\/.*|(?:\*\.)?[^*?/@:]+)$/is;

/** A policy rule for every session with the persona. */
export const personaRuleSchema = newRuleSchema
  .pick({ tool: true, pattern: true, effect: true })
  .superRefine(({ tool, pattern, effect }, context) => {
    const refuse = (message: string) =>
      context.addIssue({ code: "custom", path: ["pattern"], message });
    if (!isStorable(pattern)) refuse(UNSTORABLE);
    if (/[*?]/.test(pattern) && pattern.length > MAX_GLOB_CHARS)
      refuse(`with * or ?, a pattern has at most ${MAX_GLOB_CHARS} characters`);
    if (tool === "web_fetch" && effect === "allow" && !NAMES_HOST.test(pattern))
      refuse("must name the host in full, such as example.org or https://example.org/*");
  });
export type PersonaRule = z.infer<typeof personaRuleSchema>;

const settings = {
  name: line(100).min(1),
  description: line(500),
  icon: line(40).nullable(),
  visibility: z.enum(VISIBILITIES),
  model: line(200).min(1).nullable(),
  runtime: line(100).min(1).nullable(),
  /** Null: the session decides. */
  enableMemory: z.boolean().nullable(),
  toolPolicy: z.array(personaRuleSchema).max(MAX_POLICY_RULES),
  files: filesSchema,
  skills: skillsSchema,
};
const slug = z.string().regex(SLUG, "must be lower-case letters, digits and dashes, at most 60");

export const newPersonaSchema = z.strictObject({
  ...settings,
  slug: slug.optional(),
  description: settings.description.default(""),
  icon: settings.icon.default(null),
  /** Default: private, or shared for a default persona. */
  visibility: settings.visibility.optional(),
  isDefault: z.boolean().optional(),
  model: settings.model.default(null),
  runtime: settings.runtime.default(null),
  enableMemory: settings.enableMemory.default(null),
  toolPolicy: settings.toolPolicy.default([]),
  files: settings.files.default([]),
  skills: settings.skills.default([]),
});
export type NewPersona = z.infer<typeof newPersonaSchema>;

/** Changes of a persona. Fields that are left out stay unchanged. */
export const personaChangeSchema = z.strictObject({
  name: settings.name.optional(),
  slug: slug.optional(),
  description: settings.description.optional(),
  icon: settings.icon.optional(),
  visibility: settings.visibility.optional(),
  isDefault: z.boolean().optional(),
  model: settings.model.optional(),
  runtime: settings.runtime.optional(),
  enableMemory: settings.enableMemory.optional(),
  toolPolicy: settings.toolPolicy.optional(),
  files: settings.files.optional(),
  skills: settings.skills.optional(),
  ifVersion,
});
export type PersonaChange = z.infer<typeof personaChangeSchema>;

/** All files of the new version; files that are not among them are removed. */
export const filesChangeSchema = z.strictObject({ files: filesSchema, ifVersion });

const summary = {
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  description: z.string(),
  icon: z.string().nullable(),
  visibility: z.enum(VISIBILITIES),
  isDefault: z.boolean(),
  model: z.string().nullable(),
  runtime: z.string().nullable(),
  enableMemory: z.boolean().nullable(),
  /** Increases with every change of files or settings. */
  version: z.number().int(),
  /** Id of a person, or `system` for built-in personas. */
  createdBy: z.string(),
  /** True if the caller may change the persona. */
  mayEdit: z.boolean(),
  createdAt: isoTime,
  updatedAt: isoTime,
  /** Set if the persona was deleted while sessions still use it. */
  archivedAt: isoTime.nullable(),
};

export const personaSummarySchema = z.object(summary).meta({ id: "PersonaSummary" });
export type PersonaSummary = z.infer<typeof personaSummarySchema>;

const shownFile = z.object({
  filename: z.string(),
  content: z.string(),
  sortOrder: z.number().int(),
});
const contents = {
  toolPolicy: z.array(personaRuleSchema),
  files: z.array(shownFile),
  skills: z.array(skillSchema),
};

export const personaSchema = z.object({ ...summary, ...contents }).meta({ id: "Persona" });
export type Persona = z.infer<typeof personaSchema>;

const versionSummary = {
  id: z.string(),
  version: z.number().int(),
  /** Hash of the whole version. */
  sha256: z.string(),
  createdBy: z.string(),
  createdAt: isoTime,
};
export const versionSummarySchema = z.object(versionSummary).meta({ id: "PersonaVersionSummary" });
export type VersionSummary = z.infer<typeof versionSummarySchema>;

export const versionSchema = z
  .object({
    ...versionSummary,
    name: z.string(),
    description: z.string(),
    icon: z.string().nullable(),
    model: z.string().nullable(),
    runtime: z.string().nullable(),
    enableMemory: z.boolean().nullable(),
    ...contents,
  })
  .meta({ id: "PersonaVersion" });
export type Version = z.infer<typeof versionSchema>;

/** Builds a body for `POST` that creates the same persona here or elsewhere. */
export function exportOf(version: Version, { slug, visibility }: PersonaSummary): NewPersona {
  const { name, description, icon, model, runtime, enableMemory, toolPolicy, files } = version;
  const skills = version.skills.map((skill) => ({ name: skill.name, files: skill.files }));
  const head = { name, slug, description, icon, visibility, model, runtime, enableMemory };
  return { ...head, toolPolicy, files, skills };
}

const TAG = "Personas";
const PERSONAS = "/api/orgs/{orgId}/personas";
const PERSONA = `${PERSONAS}/{id}` as const;
const SKILLS = `${PERSONA}/skills` as const;
const SKILL = `${SKILLS}/{name}` as const;
const onePersona = z.object({ persona: personaSchema });
const oneSummary = z.object({ persona: personaSummarySchema });

/** Builds PUT and PATCH of a persona: fields that are left out stay unchanged with both. */
function updateRoute<const Method extends "put" | "patch">(method: Method) {
  return apiRoute({
    method,
    path: PERSONA,
    summary: "Change a persona (its creator or an admin); creates a new version",
    tag: TAG,
    body: personaChangeSchema,
    response: onePersona,
  });
}

export const personasApi = {
  list: apiRoute({
    method: "get",
    path: PERSONAS,
    summary: "The personas that you can use: shared ones and your own, by slug",
    tag: TAG,
    query: z.strictObject({
      ...pageQuery,
      /** Text to find in name, slug or description. */
      q: z.string().max(200).optional(),
      visibility: z.enum(VISIBILITIES).optional(),
    }),
    response: pageOf(personaSummarySchema),
  }),
  create: apiRoute({
    method: "post",
    path: PERSONAS,
    summary: "Create a persona; it is private by default",
    tag: TAG,
    body: newPersonaSchema,
    response: onePersona,
    status: 201,
    takesIdempotencyKey: true,
  }),
  get: apiRoute({
    method: "get",
    path: PERSONA,
    summary: "One persona with its files and skills, by id or slug",
    tag: TAG,
    response: onePersona,
  }),
  updateByPut: updateRoute("put"),
  update: updateRoute("patch"),
  replaceFiles: apiRoute({
    method: "put",
    path: `${PERSONA}/files`,
    summary: "Replace the files of a persona (its creator or an admin); creates a new version",
    tag: TAG,
    body: filesChangeSchema,
    response: onePersona,
  }),
  delete: apiRoute({
    method: "delete",
    path: PERSONA,
    summary:
      "Delete a persona; one that sessions use is archived instead, and they keep their version",
    tag: TAG,
    response: oneSummary,
  }),
  listVersions: apiRoute({
    method: "get",
    path: `${PERSONA}/versions`,
    summary: "The versions of a persona, newest first",
    tag: TAG,
    query: z.strictObject(pageQuery),
    response: pageOf(versionSummarySchema),
  }),
  getVersion: apiRoute({
    method: "get",
    path: `${PERSONA}/versions/{n}`,
    summary: "One version with its files and skills, by its number",
    tag: TAG,
    response: z.object({ version: versionSchema }),
  }),
  setDefault: apiRoute({
    method: "put",
    path: `${PERSONA}/default`,
    summary: "Make a shared persona the default of the organisation (admins)",
    tag: TAG,
    response: oneSummary,
  }),
  unsetDefault: apiRoute({
    method: "delete",
    path: `${PERSONA}/default`,
    summary: "Leave the organisation without a default persona (admins)",
    tag: TAG,
    response: oneSummary,
  }),
  listSkills: apiRoute({
    method: "get",
    path: SKILLS,
    summary: "The skills of a persona, with their sources",
    tag: TAG,
    // Skills are few, so they come on one page.
    query: z.strictObject({ limit: pageQuery.limit }),
    response: pageOf(skillSummarySchema),
  }),
  importSkills: apiRoute({
    method: "post",
    path: `${SKILLS}/import`,
    summary: "Import skills from a git repository at a fixed commit; the answer lists the changes",
    tag: TAG,
    body: skillImportSchema,
    response: z.object({ persona: personaSchema, skills: z.array(importedSkillSchema) }),
  }),
  setSkill: apiRoute({
    method: "put",
    path: SKILL,
    summary: "Add a skill to a persona, or replace the files of one; creates a new version",
    tag: TAG,
    body: skillChangeSchema,
    response: onePersona,
  }),
  deleteSkill: apiRoute({
    method: "delete",
    path: SKILL,
    summary: "Delete a skill of a persona; creates a new version",
    tag: TAG,
    response: onePersona,
  }),
};
