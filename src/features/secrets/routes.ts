import * as z from "zod";
import type { Sealer } from "#base/secrets/seal.ts";
import { decodeCursor, pageOf } from "#engine/cursor.ts";
import {
  command,
  defineRoute,
  type Engine,
  type Principal,
  type Route,
  requireMay,
  requireOrg,
} from "#engine/index.ts";
import { requireUser } from "#features/policy/index.ts";
import { type Page, pageOf as pageSchema } from "#protocol/page.ts";
import { placeOf, removeSecret, setSecret } from "./change-secret.ts";
import { type Secret, secretChangeSchema, secretListQuery, secretSchema } from "./contract.ts";
import { listSecrets, type Shelf } from "./queries.ts";
import { keyOf, unreadable } from "./read-secret.ts";
import type { SecretRow } from "./schema.ts";

const TAG = "Secrets";
const one = z.object({ secret: secretSchema });

/** The same routes for both kinds of secret: whose they are, and who may change them, differs. */
interface Kind {
  path: string;
  whose: string;
  manage: "secret.manage" | "secret.manage_org";
  /** Refuses those who may not even know of it. */
  shelf(principal: Principal, params: Readonly<Record<string, string>>): Shelf;
}

const KINDS: readonly Kind[] = [
  {
    path: "/api/orgs/{orgId}/secrets",
    whose: "of the organisation (changed by admins)",
    manage: "secret.manage_org",
    shelf: (principal, params) => ({
      orgId: requireOrg(principal, params.orgId),
      scope: "org",
      ownerId: "",
    }),
  },
  {
    path: "/api/me/secrets",
    whose: "of your own",
    manage: "secret.manage",
    shelf(principal) {
      const { orgId, userId } = requireUser(principal);
      return { orgId, scope: "user", ownerId: userId };
    },
  },
];

export function secretRoutes(sealer: Sealer): readonly Route[] {
  return KINDS.flatMap((kind) => routesOf(kind, sealer));
}

function routesOf({ path, whose, manage, shelf }: Kind, sealer: Sealer): Route[] {
  return [
    defineRoute({
      method: "get",
      path,
      summary: `The secrets ${whose}; never their values`,
      tag: TAG,
      query: secretListQuery,
      response: pageSchema(secretSchema),
      async handle({ engine, principal, params, query }) {
        const where = shelf(principal, params);
        requireMay(principal, "secret.read");
        return listPage(engine, sealer, where, query);
      },
    }),
    defineRoute({
      method: "put",
      path: `${path}/{name}`,
      summary: `Set a secret ${whose}, or give it a new value; it is kept encrypted and never shown`,
      tag: TAG,
      body: secretChangeSchema,
      response: one,
      async handle({ engine, principal, params, body }) {
        const where = shelf(principal, params);
        requireMay(principal, manage);
        const key = { ...where, name: params.name ?? "" };
        const row = await command(engine, (work) => setSecret(work, sealer, key, body, principal));
        return { secret: viewOf(sealer, row) };
      },
    }),
    defineRoute({
      method: "delete",
      path: `${path}/{name}`,
      summary: `Remove a secret ${whose}`,
      tag: TAG,
      response: one,
      async handle({ engine, principal, params }) {
        const where = shelf(principal, params);
        requireMay(principal, manage);
        const key = { ...where, name: params.name ?? "" };
        const row = await command(engine, (work) => removeSecret(work, key, principal));
        return { secret: viewOf(sealer, row) };
      },
    }),
  ];
}

async function listPage(
  { store }: Engine,
  sealer: Sealer,
  shelf: Shelf,
  { limit, cursor }: z.infer<typeof secretListQuery>,
): Promise<Page<Secret>> {
  const list = `secrets:${shelf.scope}`;
  const after = decodeCursor(list, cursor)?.id ?? "";
  const rows = await store.read((reader) => listSecrets(reader, shelf, after, limit + 1));
  const place = ({ name }: SecretRow) => ({ at: 0, id: name });
  return pageOf(list, rows, limit, place, (row) => viewOf(sealer, row));
}

/** One value that cannot be read must not hide the others. */
function viewOf(sealer: Sealer, row: SecretRow): Secret {
  const isReadable = sealer.opens(row.sealed, placeOf(keyOf(row)));
  return {
    name: row.name,
    scope: row.scope,
    description: row.description,
    version: row.version,
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
    lastUsedAt: row.last_used_at === null ? null : new Date(row.last_used_at).toISOString(),
    problem: isReadable ? null : unreadable(row.name).message,
  };
}
