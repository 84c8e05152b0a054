import * as z from "zod";
import { notFound } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import { decodeCursor, pageOf as pageOfRows } from "#engine/cursor.ts";
import { findRepeated } from "#engine/idempotency.ts";
import {
  command,
  defineRoute,
  type Engine,
  principalKey,
  type Route,
  type RouteRequest,
} from "#engine/index.ts";
import type { UserPrincipal } from "#features/policy/index.ts";
import { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, pageOf } from "#protocol/page.ts";
import { requirePerson, requireVisible } from "./access.ts";
import {
  filesChangeSchema,
  newPersonaSchema,
  type Persona,
  type PersonaChange,
  type PersonaSummary,
  personaChangeSchema,
  personaSchema,
  personaSummarySchema,
  VISIBILITIES,
  versionSchema,
  versionSummarySchema,
} from "./contract.ts";
import { setDefault } from "./default-persona.ts";
import { findDefaultId, listPersonas } from "./queries.ts";
import { removePersona } from "./remove-persona.ts";
import { changePersona, createPersona } from "./save-persona.ts";
import type { PersonaRow } from "./schema.ts";
import { findVersionNumber, listVersions } from "./version-queries.ts";
import { getVersion, readContent } from "./versions.ts";
import { personaView, summaryView, versionSummaryView, versionView } from "./views.ts";

const TAG = "Personas";
const LIST = "personas";
const BASE = "/api/orgs/{orgId}/personas";
const one = z.object({ persona: personaSchema });
const oneSummary = z.object({ persona: personaSummarySchema });

const pageQuery = {
  limit: z.coerce.number().int().min(1).max(PAGE_LIMIT_MAX).default(PAGE_LIMIT_DEFAULT),
  cursor: z.string().max(1_000).optional(),
};
const listQuery = z.strictObject({
  ...pageQuery,
  /** Looked for in name, slug and description. */
  q: z.string().max(200).optional(),
  visibility: z.enum(VISIBILITIES).optional(),
});
const versionsQuery = z.strictObject(pageQuery);

export const personaRoutes: readonly Route[] = [
  defineRoute({
    method: "get",
    path: BASE,
    summary: "Personas that you can use: shared ones and your own, by slug",
    tag: TAG,
    query: listQuery,
    response: pageOf(personaSummarySchema),
    async handle({ engine, principal, params, query }) {
      const person = requirePerson(principal, params.orgId, "persona.read");
      const { limit, cursor, q, visibility } = query;
      const afterSlug = decodeCursor(LIST, cursor)?.id;
      const { orgId, userId } = person;
      return engine.store.read(async (reader) => {
        const filter = { orgId, userId, q, visibility, afterSlug, limit: limit + 1 };
        const rows = await listPersonas(reader, filter);
        const defaultId = await findDefaultId(reader, orgId);
        const view = (row: PersonaRow) => summaryView(person, row, defaultId);
        return pageOfRows(LIST, rows, limit, ({ slug }) => ({ at: 0, id: slug }), view);
      });
    },
  }),
  defineRoute({
    method: "post",
    path: BASE,
    summary: "Create a persona; it is private unless you say otherwise",
    tag: TAG,
    body: newPersonaSchema,
    response: one,
    status: 201,
    takesIdempotencyKey: true,
    async handle({ engine, principal, params, body, idempotency }) {
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
  }),
  defineRoute({
    method: "get",
    path: `${BASE}/{id}`,
    summary: "One persona with its files and skills, by id or slug",
    tag: TAG,
    response: one,
    async handle({ engine, principal, params }) {
      const person = requirePerson(principal, params.orgId, "persona.read");
      return { persona: await showPersona(engine, person, params.id ?? "") };
    },
  }),
  changeRoute("put"),
  changeRoute("patch"),
  defineRoute({
    method: "put",
    path: `${BASE}/{id}/files`,
    summary: "Replace a persona's files (its creator or an admin); makes a new version",
    tag: TAG,
    body: filesChangeSchema,
    response: one,
    handle: (request) => change(request, request.body),
  }),
  defineRoute({
    method: "delete",
    path: `${BASE}/{id}`,
    summary: "Delete a persona; one that sessions use is archived, and they keep their version",
    tag: TAG,
    response: oneSummary,
    async handle({ engine, principal, params }) {
      const person = requirePerson(principal, params.orgId, "persona.manage");
      const row = await command(engine, (work) => removePersona(work, person, params.id ?? ""));
      return { persona: summaryView(person, row, null) };
    },
  }),
  ...versionRoutes(),
  defaultRoute("put", "Make a shared persona the default of the organisation (admins)"),
  defaultRoute("delete", "Let the organisation have no default persona (admins)"),
];

/** Both mean the same: what is left out stays as it was. */
function changeRoute(method: "put" | "patch"): Route {
  return defineRoute({
    method,
    path: `${BASE}/{id}`,
    summary: "Change a persona (its creator or an admin); makes a new version",
    tag: TAG,
    body: personaChangeSchema,
    response: one,
    handle: (request) => change(request, request.body),
  });
}

function versionRoutes(): Route[] {
  return [
    defineRoute({
      method: "get",
      path: `${BASE}/{id}/versions`,
      summary: "What was saved of a persona, newest first",
      tag: TAG,
      query: versionsQuery,
      response: pageOf(versionSummarySchema),
      async handle({ engine, principal, params, query: { limit, cursor } }) {
        const person = requirePerson(principal, params.orgId, "persona.read");
        return engine.store.read(async (reader) => {
          const { id } = await requireVisible(reader, person, params.id ?? "");
          const list = `persona_versions:${id}`;
          const before = decodeCursor(list, cursor)?.at ?? Number.MAX_SAFE_INTEGER;
          // The column holds 32 bits.
          const key = { personaId: id, before: Math.min(before, 2 ** 31 - 1), limit: limit + 1 };
          const rows = await listVersions(reader, key);
          const place = (row: (typeof rows)[number]) => ({ at: row.number, id: row.id });
          return pageOfRows(list, rows, limit, place, versionSummaryView);
        });
      },
    }),
    defineRoute({
      method: "get",
      path: `${BASE}/{id}/versions/{n}`,
      summary: "One version with its files and skills, by its number",
      tag: TAG,
      response: z.object({ version: versionSchema }),
      async handle({ engine, principal, params }) {
        const person = requirePerson(principal, params.orgId, "persona.read");
        return engine.store.read(async (reader) => {
          const { id } = await requireVisible(reader, person, params.id ?? "");
          const row = await findVersionNumber(reader, id, requireNumber(params.n));
          if (!row) throw notFound("version");
          return { version: versionView(row, await readContent(reader, row)) };
        });
      },
    }),
  ];
}

function defaultRoute(method: "put" | "delete", summary: string): Route {
  return defineRoute({
    method,
    path: `${BASE}/{id}/default`,
    summary,
    tag: TAG,
    response: oneSummary,
    async handle({ engine, principal, params }): Promise<{ persona: PersonaSummary }> {
      const person = requirePerson(principal, params.orgId, "persona.administer");
      const row = await command(engine, (work) =>
        setDefault(work, person, params.id ?? "", method === "put"),
      );
      const defaultId = await engine.store.read((reader) => findDefaultId(reader, person.orgId));
      return { persona: summaryView(person, row, defaultId) };
    },
  });
}

async function change(
  { engine, principal, params }: RouteRequest,
  body: PersonaChange,
): Promise<{ persona: Persona }> {
  const person = requirePerson(principal, params.orgId, "persona.manage");
  const versionId = engine.ids.mint("psv");
  const { id } = await command(engine, (work) =>
    changePersona(work, person, params.id ?? "", versionId, body),
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

function requireNumber(text: string | undefined): number {
  if (text === undefined || !/^[1-9]\d{0,8}$/.test(text)) throw notFound("version");
  return Number(text);
}
