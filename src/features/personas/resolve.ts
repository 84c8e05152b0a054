/**
 * Resolves the persona of a session and its content for the agent. A session pins a version; later
 * edits reach it only when it is pinned again.
 */
import { notFound } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import { type ComposedFile, composePersona, type Purpose } from "./compose.ts";
import type { PersonaRule, Skill } from "./contract.ts";
import { findDefaultId, findPersona } from "./queries.ts";
import type { PersonaRow, PersonaVersionRow } from "./schema.ts";
import { findPin, findVersion } from "./versions/version-queries.ts";
import { getVersion, readContent } from "./versions/versions.ts";

export interface PersonaSelection {
  orgId: string;
  /** Owner of the session; null: no owner, so only shared personas are visible. */
  userId: string | null;
  /** Persona named by a person, by id or slug like all below. Refused if it does not exist. */
  asked?: string | undefined;
  /** Default of the repository; skipped if it is gone or not visible to this person. */
  repoDefault?: string | undefined;
  /** Choice of the orchestrator; refused too if it does not exist. */
  orchestratorChoice?: string | undefined;
  purpose: Purpose;
}

export interface ResolvedPersona {
  personaId: string;
  versionId: string;
  slug: string;
  name: string;
  version: number;
  /** Files in order, with numbers in their names. */
  files: ComposedFile[];
  skills: Skill[];
  model: string | null;
  runtime: string | null;
  /** Null: the session decides. */
  enableMemory: boolean | null;
  /** Rules of the persona; an allow only if this person or the organisation could have made it. */
  toolPolicy: PersonaRule[];
}

/** Source of a session's persona; `asked`: a person named it. */
export type PersonaSource = "asked" | "repository" | "agent" | "organisation";

export async function resolvePersona(
  reader: Reader,
  request: PersonaSelection,
): Promise<(ResolvedPersona & { source: PersonaSource }) | undefined> {
  const chosen = await choosePersona(reader, request);
  if (!chosen) return undefined;
  const { row, source } = chosen;
  const version = await getVersion(reader, row.version_id);
  return { ...(await resolved(reader, row.slug, version, request)), source };
}

async function choosePersona(
  reader: Reader,
  request: PersonaSelection,
): Promise<{ row: PersonaRow; source: PersonaSource } | undefined> {
  const { orgId, userId, asked, repoDefault, orchestratorChoice } = request;
  const find = async (name: string) => {
    const row = await findPersona(reader, orgId, name);
    return row && isUsable(row, userId) ? row : undefined;
  };
  const mustFind = async (name: string) => {
    const row = await find(name);
    if (!row) throw notFound("persona");
    return row;
  };
  if (asked !== undefined) return { row: await mustFind(asked), source: "asked" };
  const ofRepo = repoDefault === undefined ? undefined : await find(repoDefault);
  if (ofRepo) return { row: ofRepo, source: "repository" };
  if (orchestratorChoice !== undefined)
    return { row: await mustFind(orchestratorChoice), source: "agent" };
  const defaultId = await findDefaultId(reader, orgId);
  const orgDefault = defaultId === null ? undefined : await find(defaultId);
  return orgDefault && { row: orgDefault, source: "organisation" };
}

function isUsable(row: PersonaRow, userId: string | null): boolean {
  if (row.archived_at !== null) return false;
  return row.visibility === "shared" || row.created_by === userId;
}

/** Finds a persona that everybody in the organisation may use, by id or slug. */
export async function findSharedPersona(
  reader: Reader,
  orgId: string,
  idOrSlug: string,
): Promise<{ id: string; slug: string; name: string } | undefined> {
  const row = await findPersona(reader, orgId, idOrSlug);
  if (!row || !isUsable(row, null)) return undefined;
  const { name } = await readContent(reader, await getVersion(reader, row.version_id));
  return { id: row.id, slug: row.slug, name };
}

/** Reads the pinned persona of a session, even if it was archived or made private meanwhile. */
export async function readPinnedPersona(
  reader: Reader,
  { sessionId, ...whom }: { sessionId: string; userId: string | null; purpose: Purpose },
): Promise<ResolvedPersona | undefined> {
  const pin = await findPin(reader, sessionId);
  const version = pin && (await findVersion(reader, pin.version_id));
  const row = version && (await findPersona(reader, version.org_id, version.persona_id));
  return row ? resolved(reader, row.slug, version, whom) : undefined;
}

async function resolved(
  reader: Reader,
  slug: string,
  version: PersonaVersionRow,
  { userId, purpose }: { userId: string | null; purpose: Purpose },
): Promise<ResolvedPersona> {
  const content = await readContent(reader, version);
  const mayAllow =
    version.policy_trusted === 1 || (userId !== null && version.policy_author === userId);
  return {
    personaId: version.persona_id,
    versionId: version.id,
    slug,
    name: content.name,
    version: version.number,
    files: composePersona(content, { purpose }),
    skills: content.skills,
    model: content.model,
    runtime: content.runtime,
    enableMemory: content.enableMemory,
    toolPolicy: content.toolPolicy.filter(({ effect }) => effect !== "allow" || mayAllow),
  };
}
