/** What is said about personas on the wire, and how large they may be. */
import * as z from "zod";
import { cleanText } from "#base/text/clean-text.ts";
import { MAX_GLOB_CHARS, newRuleSchema } from "#features/policy/contract.ts";
import { isoTime } from "#protocol/page.ts";
import {
  faultOfFilename,
  faultOfPath,
  faultOfSkillName,
  findFileAsFolder,
  findRepeatedName,
  SLUG,
} from "./names.ts";

export { readFrontMatter, SKILL_FILE } from "./front-matter.ts";

export const MAX_FILES = 50;
export const MAX_FILE_BYTES = 256 * 1024;
export const MAX_FILES_BYTES = 1024 * 1024;
export const MAX_SKILLS = 20;
/** Of all skills of a persona together. */
export const MAX_SKILL_FILES = 100;
export const MAX_SKILLS_BYTES = 2 * 1024 * 1024;
const MAX_POLICY_RULES = 100;

export const VISIBILITIES = ["private", "shared"] as const;
export type Visibility = (typeof VISIBILITIES)[number];

const isStorable = (text: string) => cleanText(text) === text;
const NOT_STORABLE = "must not contain NUL characters or broken Unicode";

/** For people, on one line. */
const line = (max: number) =>
  z
    .string()
    .trim()
    .max(max)
    .regex(/^[^\p{Cc}\u2028\u2029]*$/u, "must be one line")
    .refine(isStorable, NOT_STORABLE);

/** Its size is judged apart: too large is told differently from wrong. */
const content = z.string().refine(isStorable, NOT_STORABLE);

function checkedBy(fault: (text: string) => string | undefined) {
  return (text: string, context: z.RefinementCtx) => {
    const message = fault(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  };
}

export const personaFileSchema = z.strictObject({
  filename: z.string().superRefine(checkedBy(faultOfFilename)),
  content,
  /** Smaller goes first; equal ones by name. */
  sortOrder: z.number().int().min(0).max(1_000_000).default(0),
});
export type PersonaFile = z.infer<typeof personaFileSchema>;

const filesSchema = z
  .array(personaFileSchema)
  .max(MAX_FILES)
  .superRefine((files, context) => {
    const repeated = findRepeatedName(files.map(({ filename }) => filename));
    if (repeated !== undefined)
      context.addIssue({ code: "custom", message: `${repeated} is there twice` });
  });

const skillFileSchema = z.strictObject({
  path: z.string().superRefine(checkedBy(faultOfPath)),
  content,
});

const skillFilesSchema = z
  .array(skillFileSchema)
  .min(1)
  .max(MAX_SKILL_FILES)
  .superRefine((files, context) => {
    const paths = files.map(({ path }) => path);
    const twice = findRepeatedName(paths) ?? findFileAsFolder(paths);
    if (twice !== undefined)
      context.addIssue({ code: "custom", message: `${twice} is there twice` });
  });
/** When given, the files must have this hash: what was looked at is what is attached. */
const skillHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, "must be a sha256 in small hexadecimal letters")
  .optional();

const newSkillSchema = z.strictObject({
  name: z.string().superRefine(checkedBy(faultOfSkillName)),
  files: skillFilesSchema,
  sha256: skillHash,
});
export type NewSkill = z.infer<typeof newSkillSchema>;

const skillsSchema = z
  .array(newSkillSchema)
  .max(MAX_SKILLS)
  .superRefine((skills, context) => {
    const repeated = findRepeatedName(skills.map(({ name }) => name));
    if (repeated !== undefined)
      context.addIssue({ code: "custom", message: `${repeated} is there twice` });
  });

/** `https://example.org*` would also be `https://example.org.elsewhere.net`. */
const NAMES_HOST = /^(?:\*|https?:\/\/(?:\*\.)?[^*?/@]+\/.*|(?:\*\.)?[^*?/@:]+)$/is;

/** A rule as policy takes it, for whoever works with the persona. */
export const personaRuleSchema = newRuleSchema
  .pick({ tool: true, pattern: true, effect: true })
  .superRefine(({ tool, pattern, effect }, context) => {
    const refuse = (message: string) =>
      context.addIssue({ code: "custom", path: ["pattern"], message });
    if (!isStorable(pattern)) refuse(NOT_STORABLE);
    if (/[*?]/.test(pattern) && pattern.length > MAX_GLOB_CHARS)
      refuse(`with * or ? it has at most ${MAX_GLOB_CHARS} characters`);
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
const slug = z.string().regex(SLUG, "must be small letters, digits and dashes, at most 60");

export const newPersonaSchema = z.strictObject({
  ...settings,
  slug: slug.optional(),
  description: settings.description.default(""),
  icon: settings.icon.default(null),
  /** Private when nothing is said; a default persona is shared. */
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

/** What a change is based on; when somebody else was faster it is refused. */
const ifVersion = z.number().int().min(1).optional();

/** What is left out stays as it was. */
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

/** One skill; its name stands in the path. */
export const skillChangeSchema = z.strictObject({
  files: skillFilesSchema,
  sha256: skillHash,
  ifVersion,
});

/** From where skills are fetched; what it names is judged when it is read. */
export const skillImportSchema = z.strictObject({
  /** `https://…`, without a password. */
  url: z.string().min(1).max(2_000),
  /** A branch, a tag or a commit; left out: what the repository itself names. */
  ref: z.string().min(1).max(250).optional(),
  /** The folder to look in; left out: all of it. */
  path: z.string().max(300).optional(),
  ifVersion,
});
export type SkillImport = z.infer<typeof skillImportSchema>;

/** All of them: what is not among them is gone in the new version. */
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
  /** Counts up with every change of files or settings. */
  version: z.number().int(),
  /** A person's id, or `system` for those that came with the product. */
  createdBy: z.string(),
  /** Whether the one who asks may change it. */
  mayEdit: z.boolean(),
  createdAt: isoTime,
  updatedAt: isoTime,
  /** Set when it was deleted while sessions still use it. */
  archivedAt: isoTime.nullable(),
};

export const personaSummarySchema = z.object(summary).meta({ id: "PersonaSummary" });
export type PersonaSummary = z.infer<typeof personaSummarySchema>;

const shownFile = z.object({
  filename: z.string(),
  content: z.string(),
  sortOrder: z.number().int(),
});
const skillSource = z.object({
  url: z.string(),
  /** As it was asked for; null: what the repository itself names. */
  ref: z.string().nullable(),
  /** The skill's own folder there; empty: the top. */
  path: z.string(),
  /** From which its files were taken. */
  commit: z.string(),
});
export type SkillSource = z.infer<typeof skillSource>;

const skillHead = {
  name: z.string(),
  description: z.string(),
  /** Of all its files; changes with any of them. */
  sha256: z.string(),
  /** Null: its files were given. */
  source: skillSource.nullable(),
};
const shownSkill = z.object({
  ...skillHead,
  files: z.array(z.object({ path: z.string(), content: z.string() })),
});
export type Skill = z.infer<typeof shownSkill>;

export const skillSummarySchema = z
  .object({ ...skillHead, files: z.array(z.object({ path: z.string(), bytes: z.number().int() })) })
  .meta({ id: "SkillSummary" });
export type SkillSummary = z.infer<typeof skillSummarySchema>;

export const importedSkillSchema = z.object({
  ...skillHead,
  change: z.enum(["added", "changed", "unchanged"]),
});
export type ImportedSkill = z.infer<typeof importedSkillSchema>;

const contents = {
  toolPolicy: z.array(personaRuleSchema),
  files: z.array(shownFile),
  skills: z.array(shownSkill),
};

export const personaSchema = z.object({ ...summary, ...contents }).meta({ id: "Persona" });
export type Persona = z.infer<typeof personaSchema>;

const versionSummary = {
  id: z.string(),
  version: z.number().int(),
  /** Of all that is in it. */
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

/** What can be given to `POST` again, here or elsewhere. */
export function exportOf(version: Version, { slug, visibility }: PersonaSummary): NewPersona {
  const { name, description, icon, model, runtime, enableMemory, toolPolicy, files } = version;
  const skills = version.skills.map((skill) => ({ name: skill.name, files: skill.files }));
  const said = { name, slug, description, icon, visibility, model, runtime, enableMemory };
  return { ...said, toolPolicy, files, skills };
}
