/** Skills of a persona on the wire. */
import * as z from "zod";
import { isStorable } from "#base/text/clean-text.ts";
import { UNSTORABLE } from "#base/text/text-schemas.ts";
import { faultOfPath, faultOfSkillName, findFileAsFolder, findRepeatedName } from "../names.ts";

export const MAX_SKILLS = 20;
/** Limits of all skills of a persona together. */
export const MAX_SKILL_FILES = 100;
export const MAX_SKILLS_BYTES = 2 * 1024 * 1024;

/** Text of a file. Its size is checked separately: too large is refused differently from invalid. */
export const fileContent = z.string().refine(isStorable, UNSTORABLE);

export function checkedBy(fault: (text: string) => string | undefined) {
  return (text: string, context: z.RefinementCtx) => {
    const message = fault(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  };
}

/** Version that a change is based on; the change is refused if there is a newer one. */
export const ifVersion = z.number().int().min(1).optional();

const skillFileSchema = z.strictObject({
  path: z.string().superRefine(checkedBy(faultOfPath)),
  content: fileContent,
});

const skillFilesSchema = z
  .array(skillFileSchema)
  .min(1)
  .max(MAX_SKILL_FILES)
  .superRefine((files, context) => {
    const paths = files.map(({ path }) => path);
    const twice = findRepeatedName(paths) ?? findFileAsFolder(paths);
    if (twice !== undefined)
      context.addIssue({ code: "custom", message: `${twice} appears twice` });
  });
/** Expected hash of the files: the files that somebody looked at are the ones that are attached. */
const skillHash = z
  .string()
  .regex(/^[0-9a-f]{64}$/, "must be a sha256 in lower-case hexadecimal")
  .optional();

const newSkillSchema = z.strictObject({
  name: z.string().superRefine(checkedBy(faultOfSkillName)),
  files: skillFilesSchema,
  sha256: skillHash,
});
export type NewSkill = z.infer<typeof newSkillSchema>;

export const skillsSchema = z
  .array(newSkillSchema)
  .max(MAX_SKILLS)
  .superRefine((skills, context) => {
    const repeated = findRepeatedName(skills.map(({ name }) => name));
    if (repeated !== undefined)
      context.addIssue({ code: "custom", message: `${repeated} appears twice` });
  });

/** One skill; its name is in the path. */
export const skillChangeSchema = z.strictObject({
  files: skillFilesSchema,
  sha256: skillHash,
  ifVersion,
});

/** Source of an import; its parts are checked when they are read. */
export const skillImportSchema = z.strictObject({
  /** `https://…`, without a password. */
  url: z.string().min(1).max(2_000),
  /** A branch, a tag or a commit; default: the repository's HEAD. */
  ref: z.string().min(1).max(250).optional(),
  /** Folder to look in; default: the whole repository. */
  path: z.string().max(300).optional(),
  ifVersion,
});
export type SkillImport = z.infer<typeof skillImportSchema>;

const skillSource = z.object({
  url: z.string(),
  /** The requested ref; null: the repository's HEAD. */
  ref: z.string().nullable(),
  /** Folder of the skill in the repository; empty: the top. */
  path: z.string(),
  /** Commit that the files were taken from. */
  commit: z.string(),
});
export type SkillSource = z.infer<typeof skillSource>;

const skillHead = {
  name: z.string(),
  description: z.string(),
  /** Hash of all files. */
  sha256: z.string(),
  /** Null: the files were uploaded. */
  source: skillSource.nullable(),
};
export const skillSchema = z.object({
  ...skillHead,
  files: z.array(z.object({ path: z.string(), content: z.string() })),
});
export type Skill = z.infer<typeof skillSchema>;

export const skillSummarySchema = z
  .object({ ...skillHead, files: z.array(z.object({ path: z.string(), bytes: z.number().int() })) })
  .meta({ id: "SkillSummary" });
export type SkillSummary = z.infer<typeof skillSummarySchema>;

export const importedSkillSchema = z.object({
  ...skillHead,
  change: z.enum(["added", "changed", "unchanged"]),
});
export type ImportedSkill = z.infer<typeof importedSkillSchema>;
