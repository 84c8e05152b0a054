import { notFound } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import {
  command,
  type Engine,
  principalKey,
  type Route,
  type RouteRequest,
  serve,
} from "#engine/index.ts";
import { decodeCursor, findRepeated, pageOf } from "#engine/requests/index.ts";
import type { UserPrincipal } from "#features/policy/index.ts";
import { requirePerson, requireVisible } from "./access.ts";
import { type Persona, type PersonaChange, type PersonaSummary, personasApi } from "./contract.ts";
import { setDefault } from "./default-persona.ts";
import { findDefaultId, listPersonas } from "./queries.ts";
import { removePersona } from "./remove-persona.ts";
import { changePersona, createPersona } from "./save-persona.ts";
import type { PersonaRow } from "./schema.ts";
import { findVersionNumber, listVersions } from "./versions/version-queries.ts";
import { getVersion, readContent } from "./versions/versions.ts";
import { personaView, summaryView, versionSummaryView, versionView } from "./views.ts";

const LIST = "personas";

interface PersonaParams {
  readonly orgId: string;
  readonly id: string;
}

type PersonaRequest = Pick<RouteRequest, "engine" | "principal"> & { params: PersonaParams };

const listRoute = serve(personasApi.list, async ({ engine, principal, params, query }) => {
  const person = requirePerson(principal, params.orgId, "persona.read");
  const { limit, cursor, q, visibility } = query;
  const afterSlug = decodeCursor(LIST, cursor)?.id;
  const { orgId, userId } = person;
  return engine.store.read(async (reader) => {
    const filter = { orgId, userId, q, visibility, afterSlug, limit: limit + 1 };
    const rows = await listPersonas(reader, filter);
    const defaultId = await findDefaultId(reader, orgId);
    const view = (row: PersonaRow) => summaryView(person, row, defaultId);
    return pageOf(LIST, rows, limit, ({ slug }) => ({ at: 0, id: slug }), view);
  });
});

const createRoute = serve(
  personasApi.create,
  async ({ engine, principal, params, body, idempotency }) => {
    const person = requirePerson(principal, params.orgId, "persona.manage");
    const ids = { id: engine.ids.mint("psn"), versionId: engine.ids.mint("psv") };
    const caller = principalKey(person);
    const id = await command(engine, async (work) => {
      const known = await findRepeated(work, caller, idempotency, ids.id);
      if (known === undefined) await createPersona(work, person, person.orgId, ids, body);
      return known ?? ids.id;
    });
    return { persona: await showPersona(engine, person, id) };
  },
);

const getRoute = serve(personasApi.get, async ({ engine, principal, params }) => {
  const person = requirePerson(principal, params.orgId, "persona.read");
  return { persona: await showPersona(engine, person, params.id) };
});

const deleteRoute = serve(personasApi.delete, async ({ engine, principal, params }) => {
  const person = requirePerson(principal, params.orgId, "persona.manage");
  const row = await command(engine, (work) => removePersona(work, person, params.id));
  return { persona: summaryView(person, row, null) };
});

const versionRoutes: readonly Route[] = [
  serve(personasApi.listVersions, async ({ engine, principal, params, query }) => {
    const { limit, cursor } = query;
    const person = requirePerson(principal, params.orgId, "persona.read");
    return engine.store.read(async (reader) => {
      const { id } = await requireVisible(reader, person, params.id);
      const list = `persona_versions:${id}`;
      const before = decodeCursor(list, cursor)?.at ?? Number.MAX_SAFE_INTEGER;
      // The column holds 32 bits.
      const key = { personaId: id, before: Math.min(before, 2 ** 31 - 1), limit: limit + 1 };
      const rows = await listVersions(reader, key);
      const position = (row: (typeof rows)[number]) => ({ at: row.number, id: row.id });
      return pageOf(list, rows, limit, position, versionSummaryView);
    });
  }),
  serve(personasApi.getVersion, async ({ engine, principal, params }) => {
    const person = requirePerson(principal, params.orgId, "persona.read");
    return engine.store.read(async (reader) => {
      const { id } = await requireVisible(reader, person, params.id);
      const row = await findVersionNumber(reader, id, requireNumber(params.n));
      if (!row) throw notFound("version");
      return { version: versionView(row, await readContent(reader, row)) };
    });
  }),
];

export const personaRoutes: readonly Route[] = [
  listRoute,
  createRoute,
  getRoute,
  serve(personasApi.updateByPut, (request) => change(request, request.body)),
  serve(personasApi.update, (request) => change(request, request.body)),
  serve(personasApi.replaceFiles, (request) => change(request, request.body)),
  deleteRoute,
  ...versionRoutes,
  serve(personasApi.setDefault, (request) => changeDefault(request, true)),
  serve(personasApi.unsetDefault, (request) => changeDefault(request, false)),
];

async function changeDefault(
  { engine, principal, params }: PersonaRequest,
  isDefault: boolean,
): Promise<{ persona: PersonaSummary }> {
  const person = requirePerson(principal, params.orgId, "persona.administer");
  const row = await command(engine, (work) => setDefault(work, person, params.id, isDefault));
  const defaultId = await engine.store.read((reader) => findDefaultId(reader, person.orgId));
  return { persona: summaryView(person, row, defaultId) };
}

async function change(
  { engine, principal, params }: PersonaRequest,
  body: PersonaChange,
): Promise<{ persona: Persona }> {
  const person = requirePerson(principal, params.orgId, "persona.manage");
  const versionId = engine.ids.mint("psv");
  const { id } = await command(engine, (work) =>
    changePersona(work, person, params.id, versionId, body),
  );
  return { persona: await showPersona(engine, person, id) };
}

export function showPersona(
  { store }: Engine,
  person: UserPrincipal,
  id: string,
): Promise<Persona> {
  return store.read(async (reader: Reader) => {
    const row = await requireVisible(reader, person, id);
    const content = await readContent(reader, await getVersion(reader, row.version_id));
    return personaView(person, row, await findDefaultId(reader, person.orgId), content);
  });
}

function requireNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw notFound("version");
  return Number(text);
}
