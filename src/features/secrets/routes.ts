import type { Sealer } from "#base/secrets/seal.ts";
import {
  command,
  type Engine,
  type Principal,
  type Route,
  requireMay,
  requireOrg,
  serve,
} from "#engine/index.ts";
import { decodeCursor, pageOf } from "#engine/requests/index.ts";
import { requireUser } from "#features/policy/index.ts";
import type { Page } from "#protocol/page.ts";
import { bindingOf, removeSecret, setSecret } from "./change-secret.ts";
import { orgSecretsApi, type Secret, type SecretListQuery, secretsApi } from "./contract.ts";
import { listSecrets, type SecretOwner } from "./queries.ts";
import { keyOf, unreadable } from "./read-secret.ts";
import type { SecretRow } from "./schema.ts";

export function secretRoutes(sealer: Sealer): readonly Route[] {
  return [...orgSecretRoutes(sealer), ...ownSecretRoutes(sealer)];
}

/** Admins change the secrets of the organisation. */
function orgSecretRoutes(sealer: Sealer): Route[] {
  const ownerOf = (principal: Principal, orgId: string): SecretOwner => ({
    orgId: requireOrg(principal, orgId),
    scope: "org",
    ownerId: "",
  });
  return [
    serve(orgSecretsApi.list, async ({ engine, principal, params, query }) => {
      const owner = ownerOf(principal, params.orgId);
      requireMay(principal, "secret.read");
      return listPage(engine, sealer, owner, query);
    }),
    serve(orgSecretsApi.set, async ({ engine, principal, params: { orgId, name }, body }) => {
      const key = { ...ownerOf(principal, orgId), name };
      requireMay(principal, "secret.manage_org");
      const row = await command(engine, (work) => setSecret(work, sealer, key, body, principal));
      return { secret: viewOf(sealer, row) };
    }),
    serve(orgSecretsApi.delete, async ({ engine, principal, params: { orgId, name } }) => {
      const key = { ...ownerOf(principal, orgId), name };
      requireMay(principal, "secret.manage_org");
      const row = await command(engine, (work) => removeSecret(work, key, principal));
      return { secret: viewOf(sealer, row) };
    }),
  ];
}

function ownSecretRoutes(sealer: Sealer): Route[] {
  const ownerOf = (principal: Principal): SecretOwner => {
    const { orgId, userId } = requireUser(principal);
    return { orgId, scope: "user", ownerId: userId };
  };
  return [
    serve(secretsApi.list, async ({ engine, principal, query }) => {
      const owner = ownerOf(principal);
      requireMay(principal, "secret.read");
      return listPage(engine, sealer, owner, query);
    }),
    serve(secretsApi.set, async ({ engine, principal, params: { name }, body }) => {
      const key = { ...ownerOf(principal), name };
      requireMay(principal, "secret.manage");
      const row = await command(engine, (work) => setSecret(work, sealer, key, body, principal));
      return { secret: viewOf(sealer, row) };
    }),
    serve(secretsApi.delete, async ({ engine, principal, params: { name } }) => {
      const key = { ...ownerOf(principal), name };
      requireMay(principal, "secret.manage");
      const row = await command(engine, (work) => removeSecret(work, key, principal));
      return { secret: viewOf(sealer, row) };
    }),
  ];
}

async function listPage(
  { store }: Engine,
  sealer: Sealer,
  owner: SecretOwner,
  { limit, cursor }: SecretListQuery,
): Promise<Page<Secret>> {
  const list = `secrets:${owner.scope}`;
  const after = decodeCursor(list, cursor)?.id ?? "";
  const rows = await store.read((reader) => listSecrets(reader, owner, after, limit + 1));
  const place = ({ name }: SecretRow) => ({ at: 0, id: name });
  return pageOf(list, rows, limit, place, (row) => viewOf(sealer, row));
}

/** One unreadable value must not hide the others. */
function viewOf(sealer: Sealer, row: SecretRow): Secret {
  const isReadable = sealer.opens(row.sealed, bindingOf(keyOf(row)));
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
