/** Routes for the skills of a persona, one by one and from a git repository. Each change makes a version. */
import { notFound, Refusal } from "#base/refusal.ts";
import { command, may, type Route, type RouteRequest, serve } from "#engine/index.ts";
import { requireEditable, requirePerson, requireVisible } from "../access.ts";
import {
  type ImportedSkill,
  type Persona,
  personasApi,
  type Skill,
  type SkillSummary,
} from "../contract.ts";
import { changesOf, mergeSkills, type SkillFetcher } from "../import/import-skills.ts";
import { faultOfSkillName } from "../names.ts";
import { showPersona } from "../routes.ts";
import { changePersona, type SkillsEdit } from "../save-persona.ts";
import { getVersion, readContent } from "../versions/versions.ts";
import { pinSkill } from "./skills.ts";

export function skillRoutes(fetchSkills: SkillFetcher): readonly Route[] {
  return [listRoute, importRoute(fetchSkills), setRoute, deleteRoute];
}

const listRoute = serve(personasApi.listSkills, async ({ engine, principal, params }) => {
  const person = requirePerson(principal, params.orgId, "persona.read");
  return engine.store.read(async (reader) => {
    const row = await requireVisible(reader, person, params.id);
    const { skills } = await readContent(reader, await getVersion(reader, row.version_id));
    return { items: skills.map(summaryOf), next: null };
  });
});

const importRoute = (fetchSkills: SkillFetcher) =>
  serve(personasApi.importSkills, async (request) => {
    const { engine, principal, params, body } = request;
    const person = requirePerson(principal, params.orgId, "persona.manage");
    // Nothing is fetched for a person who could not save it.
    await engine.store.read((reader) => requireEditable(reader, person, params.id));
    const ownNetwork = may(person, "persona.administer", { orgId: person.orgId });
    const imported = await fetchSkills(body, { ownNetwork });
    let skills: ImportedSkill[] = [];
    const editSkills = (was: readonly Skill[]) => {
      skills = changesOf(was, imported);
      return mergeSkills(was, imported);
    };
    const persona = await edit(request, { editSkills }, body.ifVersion);
    return { persona, skills };
  });

const setRoute = serve(personasApi.setSkill, async (request) => {
  const name = requireSkillName(request.params.name);
  const { files, sha256, ifVersion } = request.body;
  const skill = pinSkill({ name, files, sha256 });
  const editSkills = (was: readonly Skill[]) => [...without(was, name), skill];
  return { persona: await edit(request, { editSkills }, ifVersion) };
});

const deleteRoute = serve(personasApi.deleteSkill, async (request) => {
  const { name } = request.params;
  const editSkills = (was: readonly Skill[]) => {
    const left = without(was, name);
    if (left.length === was.length) throw notFound("skill");
    return left;
  };
  return { persona: await edit(request, { editSkills }) };
});

type PersonaRequest = Pick<RouteRequest, "engine" | "principal"> & {
  params: { readonly orgId: string; readonly id: string };
};

async function edit(
  { engine, principal, params }: PersonaRequest,
  change: SkillsEdit,
  ifVersion?: number,
): Promise<Persona> {
  const person = requirePerson(principal, params.orgId, "persona.manage");
  const versionId = engine.ids.mint("psv");
  const { id } = await command(engine, (work) =>
    changePersona(work, person, params.id, versionId, { ...change, ifVersion }),
  );
  return showPersona(engine, person, id);
}

function without(skills: readonly Skill[], name: string): Skill[] {
  return skills.filter((skill) => skill.name !== name);
}

function requireSkillName(name: string): string {
  const fault = faultOfSkillName(name);
  if (fault === undefined) return name;
  throw new Refusal("invalid", "invalid_name", `The name of a skill ${fault}.`);
}

function summaryOf({ files, ...head }: Skill): SkillSummary {
  return {
    ...head,
    files: files.map(({ path, content }) => ({ path, bytes: Buffer.byteLength(content) })),
  };
}
