/** Skills of a persona, one by one, and from a git repository. Each change is a version of it. */
import * as z from "zod";
import { notFound, Refusal } from "#base/refusal.ts";
import { command, defineRoute, may, type Route, type RouteRequest } from "#engine/index.ts";
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, pageOf } from "#protocol/page.ts";
import { requireEditable, requirePerson, requireVisible } from "./access.ts";
import {
  type ImportedSkill,
  importedSkillSchema,
  type Persona,
  personaSchema,
  type Skill,
  type SkillSummary,
  skillChangeSchema,
  skillImportSchema,
  skillSummarySchema,
} from "./contract.ts";
import { changesOf, mergeSkills, type SkillFetcher } from "./import/import-skills.ts";
import { faultOfSkillName } from "./names.ts";
import { showPersona } from "./routes.ts";
import { changePersona, type SkillsEdit } from "./save-persona.ts";
import { pinSkill } from "./skills.ts";
import { getVersion, readContent } from "./versions.ts";

const TAG = "Personas";
const SKILLS = "/api/orgs/{orgId}/personas/{id}/skills";
const one = z.object({ persona: personaSchema });

export function skillRoutes(fetchSkills: SkillFetcher): readonly Route[] {
  return [
    listRoute,
    importRoute(fetchSkills),
    defineRoute({
      method: "put",
      path: `${SKILLS}/{name}`,
      summary: "Give a persona a skill, or new files to one that it has; makes a new version",
      tag: TAG,
      body: skillChangeSchema,
      response: one,
      async handle(request) {
        const name = requireSkillName(request.params.name);
        const { files, sha256, ifVersion } = request.body;
        const skill = pinSkill({ name, files, sha256 });
        const editSkills = (was: readonly Skill[]) => [...without(was, name), skill];
        return { persona: await edit(request, { editSkills }, ifVersion) };
      },
    }),
    defineRoute({
      method: "delete",
      path: `${SKILLS}/{name}`,
      summary: "Take a skill from a persona; makes a new version",
      tag: TAG,
      response: one,
      async handle(request) {
        const name = request.params.name ?? "";
        const editSkills = (was: readonly Skill[]) => {
          const left = without(was, name);
          if (left.length === was.length) throw notFound("skill");
          return left;
        };
        return { persona: await edit(request, { editSkills }) };
      },
    }),
  ];
}

const listRoute = defineRoute({
  method: "get",
  path: SKILLS,
  summary: "The skills of a persona, with where they came from",
  tag: TAG,
  // There are few, so they come on one page.
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
  }),
  response: pageOf(skillSummarySchema),
  async handle({ engine, principal, params }) {
    const person = requirePerson(principal, params.orgId, "persona.read");
    return engine.store.read(async (reader) => {
      const row = await requireVisible(reader, person, params.id ?? "");
      const { skills } = await readContent(reader, await getVersion(reader, row.version_id));
      return { items: skills.map(summaryOf), next: null };
    });
  },
});

const importRoute = (fetchSkills: SkillFetcher) =>
  defineRoute({
    method: "post",
    path: `${SKILLS}/import`,
    summary: "Fetch skills from a git repository and pin them; says which of them are different",
    tag: TAG,
    body: skillImportSchema,
    response: z.object({ persona: personaSchema, skills: z.array(importedSkillSchema) }),
    async handle(request) {
      const { engine, principal, params, body } = request;
      const person = requirePerson(principal, params.orgId, "persona.manage");
      // Nothing is fetched for somebody who could not keep it.
      await engine.store.read((reader) => requireEditable(reader, person, params.id ?? ""));
      const ownNetwork = may(person, "persona.administer", { orgId: person.orgId });
      const imported = await fetchSkills(body, { ownNetwork });
      let skills: ImportedSkill[] = [];
      const editSkills = (was: readonly Skill[]) => {
        skills = changesOf(was, imported);
        return mergeSkills(was, imported);
      };
      const persona = await edit(request, { editSkills }, body.ifVersion);
      return { persona, skills };
    },
  });

async function edit(
  { engine, principal, params }: Pick<RouteRequest, "engine" | "principal" | "params">,
  change: SkillsEdit,
  ifVersion?: number,
): Promise<Persona> {
  const person = requirePerson(principal, params.orgId, "persona.manage");
  const versionId = engine.ids.mint("psv");
  const { id } = await command(engine, (work) =>
    changePersona(work, person, params.id ?? "", versionId, { ...change, ifVersion }),
  );
  return showPersona(engine, person, id);
}

function without(skills: readonly Skill[], name: string): Skill[] {
  return skills.filter((skill) => skill.name !== name);
}

function requireSkillName(name: string | undefined): string {
  const fault = faultOfSkillName(name ?? "");
  if (name !== undefined && fault === undefined) return name;
  throw new Refusal("invalid", "invalid_name", `The name of a skill ${fault}.`);
}

function summaryOf({ files, ...head }: Skill): SkillSummary {
  return {
    ...head,
    files: files.map(({ path, content }) => ({ path, bytes: Buffer.byteLength(content) })),
  };
}
