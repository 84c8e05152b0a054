/**
 * Pins repository and persona when a session is created, in the creating transaction. Later changes reach the
 * session only on request.
 */

import { notFound, Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import {
  type Brief,
  command,
  ddl,
  type Feature,
  may,
  principalKey,
  type RequestedFields,
  type SessionRow,
  type SessionWriter,
  serve,
  type Work,
} from "#engine/index.ts";
import { switchMemory } from "#features/memory/index.ts";
import {
  hasPersona,
  pinPersona,
  type ResolvedPersona,
  readPinnedPersona,
  resolvePersona,
} from "#features/personas/index.ts";
import { setPersonaRules } from "#features/policy/index.ts";
import { type ResolvedRepo, resolveRepo } from "#features/repos/index.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import { briefingApi } from "./contract.ts";

const FOLDER = ".muster/persona";
const SKILLS_FOLDER = ".muster/skills";

/** Repositories named their default persona by slug, which may change; now they store its id. */
const repoPersonas = `
update repos set persona_id = (
    select personas.id from personas
    where personas.org_id = repos.org_id and personas.slug = repos.persona_slug
      and personas.archived_at is null
  )
  where persona_slug is not null and persona_id is null
`;

export const briefing: Feature = {
  name: "briefing",
  migrations: [
    { id: "briefing-0027-repo-personas", statements: (dialect) => ddl(dialect, repoPersonas) },
  ],
  listeners: [
    async (work, event) => {
      if (event.type === "session_making")
        await applyBriefing(work, event.session, event.requested);
    },
  ],
  hasBrief: (session) => hasPersona(session) || session.repo !== null,
  async brief(reader, session) {
    const { id: sessionId, owner_id: userId, purpose } = session;
    const persona = await readPinnedPersona(reader, { sessionId, userId, purpose });
    const setup = await setupOf(reader, session);
    if (!persona && setup === null) return undefined;
    return { ...(persona ? briefOf(persona) : { instructions: [], files: [] }), setup };
  },
  routes: [
    serve(briefingApi.refreshPersona, ({ engine, principal, params, body }) =>
      command(engine, async (work) => {
        const session = await work.session(params.id);
        const isYours =
          session &&
          may(principal, "session.manage", {
            orgId: session.row.org_id,
            ownerId: session.row.owner_id,
          });
        if (!isYours) throw notFound("session");
        const requested = body.persona ?? (await findCurrentPersona(work, session.row));
        const persona = await resolvePersona(work.tx, {
          ...personaReader(session.row),
          asked: requested,
        });
        if (!persona) throw notFound("persona");
        await pin(work, session.row, persona);
        session.record({
          type: "session_updated",
          reason: "persona",
          data: { persona: persona.slug, version: persona.version },
        });
        await work.reportChange({
          orgId: session.row.org_id,
          by: principalKey(principal),
          area: "session_persona",
          action: "pinned",
          subjectId: persona.personaId,
          detail: `version_${persona.version}`,
          session: { id: session.row.id, owner_id: session.row.owner_id },
        });
        return { persona: persona.slug, version: persona.version };
      }),
    ),
  ],
};

/** Looks the persona up by its id: another one may have its slug by now. */
async function findCurrentPersona(work: Work, row: SessionRow): Promise<string | undefined> {
  const { owner_id: userId, purpose } = row;
  return (await readPinnedPersona(work.tx, { sessionId: row.id, userId, purpose }))?.personaId;
}

/**
 * Applies repository and persona. An explicit request wins; then the persona's settings, then those of the
 * parent or the server.
 */
async function applyBriefing(
  work: Work,
  { row }: SessionWriter,
  requested: RequestedFields,
): Promise<void> {
  // Orchestrators have no persona.
  if (isOrchestrator(row)) return;
  const repo = await pinRepo(work, row);
  const named = requested.personaSlug;
  const persona = await resolvePersona(work.tx, {
    ...personaReader(row),
    asked: requested.persona ? named : undefined,
    repoDefault: repo?.personaId ?? undefined,
    orchestratorChoice: requested.persona ? undefined : named,
  });
  if (!persona) return;
  requested.chosenPersona = { slug: persona.slug, source: persona.source };
  if (!requested.runtime && persona.runtime !== null) row.runtime = persona.runtime;
  if (!requested.model && persona.model !== null) row.model = persona.model;
  if (requested.enableMemory === undefined && persona.enableMemory !== null)
    switchMemory(row, persona.enableMemory);
  await pin(work, row, persona);
}

/** Sets the address from the organisation's list for the session's repository. */
async function pinRepo(work: Work, row: SessionRow): Promise<ResolvedRepo | undefined> {
  const repo = row.repo === null ? undefined : await resolveRepo(work.tx, row.org_id, row.repo);
  if (!repo) return undefined;
  row.repo = repo.url;
  row.branch ??= repo.branch;
  // Admins maintain the list: everybody who may use the list may use a folder in it.
  if (repo.isPath) row.may_use_path = 1;
  return repo;
}

async function pin(work: Work, row: SessionRow, persona: ResolvedPersona): Promise<void> {
  await pinPersona(work.tx, row, persona);
  await setPersonaRules(work, row, persona.toolPolicy);
}

function personaReader({ org_id: orgId, owner_id: userId, purpose }: SessionRow) {
  return { orgId, userId, purpose };
}

/** Finds the setup command by the session's address; a repository that was disabled meanwhile has none. */
async function setupOf(reader: Reader, { org_id, repo }: SessionRow): Promise<string | null> {
  if (repo === null) return null;
  try {
    return (await resolveRepo(reader, org_id, repo))?.setup ?? null;
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
}

function briefOf({ files, skills }: ResolvedPersona): Omit<Brief, "setup"> {
  return {
    instructions: skills.length === 0 ? files : [...files, skillsNotice(skills)],
    files: [
      // The pinned files are not the agent's changes, and go into no commit.
      { path: ".muster/.gitignore", content: "*\n" },
      ...files.map(({ name, content }) => ({ path: `${FOLDER}/${name}`, content })),
      ...skills.flatMap((skill) =>
        skill.files.map(({ path, content }) => ({
          path: `${SKILLS_FOLDER}/${skill.name}/${path}`,
          content,
        })),
      ),
    ],
  };
}

/** Lists the skills for the agent, which would not look into a hidden folder by itself. */
function skillsNotice(skills: ResolvedPersona["skills"]): Brief["instructions"][number] {
  const lines = skills.map(({ name, description }) => {
    const oneLine = description.replaceAll(/\s+/g, " ").trim();
    return `- ${name}: ${oneLine} (${SKILLS_FOLDER}/${name}/SKILL.md)`;
  });
  const content = [
    "Your persona has these skills: instructions and files for one kind of work, in the workspace. Before you do such work, read the skill's SKILL.md and follow it. Paths in it are relative to its folder.",
    ...lines,
  ].join("\n");
  return { name: "SKILLS", content };
}
