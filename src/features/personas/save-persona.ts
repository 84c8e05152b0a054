/** Creates and changes personas. Every change of files or settings makes a new version. */
import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import type { Work } from "#engine/index.ts";
import type { UserPrincipal } from "#features/policy/index.ts";
import { requireEditable, SYSTEM } from "./access.ts";
import { type Content, requireFits, requireSkillsFit } from "./content.ts";
import {
  MAX_SKILLS,
  type NewPersona,
  type NewSkill,
  type PersonaChange,
  type Skill,
} from "./contract.ts";
import { announce, changeOf, decideDefault } from "./default-persona.ts";
import { freeSlug, slugFrom } from "./names.ts";
import { countPersonas, insertPersona, listTakenSlugs, lockOrg, savePersona } from "./queries.ts";
import type { PersonaRow } from "./schema.ts";
import { keepSources, pinSkill } from "./skills/skills.ts";
import { type Author, addVersion, authorId, getVersion, readContent } from "./versions/versions.ts";

const MAX_PERSONAS = 1_000;
/** Length of the common prefix of similar slugs: numbers are added at the end. */
const STEM_CHARS = 50;

/** Ids, minted before the command, which may run again. */
export interface PersonaIds {
  id: string;
  versionId: string;
}

export async function createPersona(
  work: Work,
  author: Author,
  orgId: string,
  ids: PersonaIds,
  wanted: NewPersona,
): Promise<PersonaRow> {
  const { isDefault = false, skills, ...settings } = wanted;
  const visibility = wanted.visibility ?? (isDefault ? "shared" : "private");
  const content: Content = { ...settings, skills: skillsOf(skills) };
  requireFits(content.files);
  const org = await lockOrg(work.tx, orgId);
  const slug = wanted.slug ?? slugFrom(wanted.name);
  await requireFree(work.tx, orgId, slug);
  if ((await countPersonas(work.tx, orgId)) >= MAX_PERSONAS)
    throw new Refusal(
      "limit",
      "persona_limit_reached",
      `There are already ${MAX_PERSONAS} personas. Delete some that are not used.`,
    );
  const draft = { id: ids.versionId, orgId, personaId: ids.id, content };
  const version = await addVersion(work, author, draft, undefined);
  const row: PersonaRow = {
    id: ids.id,
    org_id: orgId,
    slug,
    ...headOf(content, slug),
    visibility,
    version: version.number,
    version_id: version.id,
    created_by: authorId(author),
    created_at: work.now,
    updated_at: work.now,
    archived_at: null,
  };
  await insertPersona(work.tx, row);
  await work.reportChange(changeOf(row, author, "added"));
  if (isDefault && author !== SYSTEM) await decideDefault(work, author, org, row, true);
  announce(work, row);
  return row;
}

export async function changePersona(
  work: Work,
  person: UserPrincipal,
  idOrSlug: string,
  versionId: string,
  change: PersonaChange & SkillsEdit,
): Promise<PersonaRow> {
  const org = await lockOrg(work.tx, person.orgId);
  const before = await requireEditable(work.tx, person, idOrSlug);
  requireUnchanged(before, change.ifVersion);
  const slug = change.slug ?? before.slug;
  if (slug !== before.slug) await requireFree(work.tx, person.orgId, slug);
  const visibility = change.visibility ?? before.visibility;
  const wasDefault = org.default_persona_id === before.id;
  const isDefault = change.isDefault ?? wasDefault;
  if (visibility === "private") requireMayHide(before, wasDefault && isDefault);

  const was = await getVersion(work.tx, before.version_id);
  const content = contentAfter(await readContent(work.tx, was), change);
  const draft = { id: versionId, orgId: person.orgId, personaId: before.id, content };
  const version = await addVersion(work, person, draft, was);
  const row: PersonaRow = {
    ...before,
    slug,
    ...headOf(content, slug),
    visibility,
    version: version.number,
    version_id: version.id,
  };
  await decideDefault(work, person, org, row, isDefault);
  const isSame = (Object.keys(row) as (keyof PersonaRow)[]).every((at) => row[at] === before[at]);
  if (isSame) return before;
  row.updated_at = work.now;
  await savePersona(work.tx, row);
  await work.reportChange(changeOf(row, person, "saved"));
  announce(work, row);
  return row;
}

/** Edits the present skills; a change of one skill need not name the others. */
export interface SkillsEdit {
  editSkills?: (was: readonly Skill[]) => Skill[];
}

function contentAfter(was: Content, change: PersonaChange & SkillsEdit): Content {
  const { name, description, icon, model, runtime, enableMemory, toolPolicy, files } = change;
  const fields = { name, description, icon, model, runtime, enableMemory, toolPolicy, files };
  if (files) requireFits(files);
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return {
    ...was,
    ...(Object.fromEntries(given) as Partial<Content>),
    skills: skillsAfter(was.skills, change),
  };
}

function skillsAfter(was: Skill[], { skills, editSkills }: PersonaChange & SkillsEdit): Skill[] {
  if (skills) return keepSources(skillsOf(skills), was);
  if (!editSkills) return was;
  const edited = editSkills(was);
  if (edited.length > MAX_SKILLS)
    throw new Refusal(
      "too_large",
      "persona_too_large",
      `A persona can have at most ${MAX_SKILLS} skills. Remove some, or name a folder with fewer.`,
    );
  requireSkillsFit(edited);
  return keepSources(edited, was);
}

function skillsOf(skills: readonly NewSkill[]): Skill[] {
  requireSkillsFit(skills);
  return skills.map((skill) => pinSkill(skill));
}

/** Columns for lists and search. */
function headOf(content: Content, slug: string) {
  const { name, description, icon, model, runtime, enableMemory } = content;
  return {
    name,
    description,
    icon,
    model,
    runtime,
    enable_memory: enableMemory === null ? null : Number(enableMemory),
    search_text: `${name}\n${slug}\n${description}`.toLowerCase(),
  };
}

async function requireFree(reader: Reader, orgId: string, slug: string): Promise<void> {
  const taken = await listTakenSlugs(reader, orgId, slug, slug.slice(0, STEM_CHARS));
  if (!taken.has(slug)) return;
  const free = freeSlug(slug, (other) => taken.has(other));
  throw new Refusal("conflict", "slug_taken", `The slug ${slug} is taken. ${free} is free.`, {
    details: [{ path: "slug", message: free }],
  });
}

function requireUnchanged(row: PersonaRow, ifVersion: number | undefined): void {
  if (ifVersion === undefined || ifVersion === row.version) return;
  throw new Refusal(
    "conflict",
    "version_changed",
    `The persona is now at version ${row.version}. Read it again and repeat your change.`,
  );
}

function requireMayHide(row: PersonaRow, isDefault: boolean): void {
  if (isDefault)
    throw new Refusal(
      "conflict",
      "persona_is_default",
      "The organisation's default persona must be shared. Ask an admin to set another default first.",
    );
  if (row.created_by === SYSTEM)
    throw new Refusal(
      "conflict",
      "persona_has_no_owner",
      "This is a built-in persona: nobody could see it if it were private. Delete it, or leave it shared.",
    );
}
