import { Refusal } from "#base/refusal.ts";
import { command, may, type Principal, type Route, requireMay, serve } from "#engine/index.ts";
import { askProvider, type Fetch } from "./ask-provider.ts";
import {
  modelsAfter,
  reachAfter,
  removeProvider,
  requireName,
  setProvider,
} from "./change-provider.ts";
import { type Provider, providersApi } from "./contract.ts";
import { findProvider, listProviders } from "./queries.ts";
import type { ProviderRow } from "./schema.ts";
import type { KeySealer } from "./seal-key.ts";

export function providerRoutes(sealer: KeySealer, fetch: Fetch): readonly Route[] {
  return [
    serve(providersApi.list, async ({ engine, principal }) => {
      requireMay(principal, "provider.read");
      const rows = await engine.store.read((reader) => listProviders(reader, principal.orgId));
      return { items: rows.map((row) => viewFor(principal, sealer, row)), next: null };
    }),
    serve(providersApi.set, async ({ engine, principal, params: { name }, body }) => {
      requireMay(principal, "provider.manage");
      requireName(name);
      const key = { orgId: principal.orgId, name };
      const before = await engine.store.read((reader) => findProvider(reader, key));
      // Runs outside the transaction: the provider may take its time.
      const namesModels = modelsAfter(body, before) !== null;
      const reached = reachAfter(sealer, key, body, before);
      const answer = await askProvider(reached, fetch, { namesModels });
      const row = await command(engine, (work) =>
        setProvider(work, sealer, principal, name, body, answer),
      );
      return { provider: viewFor(principal, sealer, row) };
    }),
    serve(providersApi.delete, async ({ engine, principal, params }) => {
      requireMay(principal, "provider.manage");
      const row = await command(engine, (work) => removeProvider(work, principal, params.name));
      return { provider: viewFor(principal, sealer, row) };
    }),
  ];
}

const KEY_END_CHARS = 4;
/** The end of a shorter key would reveal too much of it. */
const MIN_CHARS_TO_SHOW_END = 20;

function viewFor(principal: Principal, sealer: KeySealer, row: ProviderRow): Provider {
  const manages = may(principal, "provider.manage", { orgId: row.org_id });
  const { keyEnd, problem } = describeKey(sealer, row);
  return {
    name: row.name,
    kind: row.kind,
    baseUrl: manages ? row.base_url : null,
    hasKey: row.secret !== null,
    keyEnd: manages ? keyEnd : null,
    models: modelsOf(row),
    answered: row.answered === 1,
    problem,
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

/** One unreadable key must not hide the other providers. */
function describeKey(
  sealer: KeySealer,
  { secret, org_id, name, base_url }: ProviderRow,
): { keyEnd: string | null; problem: string | null } {
  if (secret === null) return { keyEnd: null, problem: null };
  try {
    const apiKey = sealer.open(secret, { orgId: org_id, name, baseUrl: base_url });
    const keyEnd = apiKey.length >= MIN_CHARS_TO_SHOW_END ? apiKey.slice(-KEY_END_CHARS) : null;
    return { keyEnd, problem: null };
  } catch (error) {
    if (error instanceof Refusal) return { keyEnd: null, problem: error.message };
    throw error;
  }
}

export function modelsOf({ models }: ProviderRow): string[] | null {
  return models === null ? null : (JSON.parse(models) as string[]);
}
