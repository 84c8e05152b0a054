/**
 * Model providers that people set up in settings. Their keys are stored encrypted and stay on the server,
 * which calls the providers for its runners.
 */
import { command, type Engine, type Feature } from "#engine/index.ts";
import type { Fetch } from "./ask-provider.ts";
import { noteAnswered } from "./change-provider.ts";
import type { ProviderKind } from "./contract.ts";
import { findProvider, listProviders } from "./queries.ts";
import type { ReachableProvider } from "./reachable-provider.ts";
import { modelsOf, providerRoutes } from "./routes.ts";
import { providerMigrations } from "./schema.ts";
import { createKeySealer } from "./seal-key.ts";

export type { ReachableProvider } from "./reachable-provider.ts";
export { providerKeyColumn } from "./seal-key.ts";

/** Provider as a runner needs it to offer its models. */
export interface ConfiguredProvider {
  name: string;
  kind: ProviderKind;
  models: string[] | null;
  /**
   * False: the provider did not respond when it was saved; it is not chosen while another model is available.
   */
  answered: boolean;
}

export interface Providers {
  feature: Feature;
  /** Refuses with `secret_key_changed` when the stored key cannot be read. */
  resolve(engine: Engine, orgId: string, name: string): Promise<ReachableProvider | undefined>;
  list(engine: Engine, orgId: string): Promise<ConfiguredProvider[]>;
  /** Records that the provider completed a turn, so it no longer counts as untried. */
  noteAnswered(engine: Engine, orgId: string, name: string): Promise<void>;
}

export interface ProvidersOptions {
  secretKey: string;
  /** Fetch that checks whether a provider accepts a key. */
  fetch?: Fetch;
}

export function createProviders({
  secretKey,
  fetch = globalThis.fetch,
}: ProvidersOptions): Providers {
  const sealer = createKeySealer(secretKey);
  return {
    feature: {
      name: "providers",
      migrations: providerMigrations,
      routes: providerRoutes(sealer, fetch),
    },
    async resolve({ store }, orgId, name) {
      const row = await store.read((reader) => findProvider(reader, { orgId, name }));
      if (!row) return undefined;
      const { kind, base_url: baseUrl, secret } = row;
      const apiKey = secret === null ? null : sealer.open(secret, { orgId, name, baseUrl });
      return { kind, baseUrl, apiKey };
    },
    async list({ store }, orgId) {
      const rows = await store.read((reader) => listProviders(reader, orgId));
      return rows.map((row) => ({
        name: row.name,
        kind: row.kind,
        models: modelsOf(row),
        answered: row.answered === 1,
      }));
    },
    noteAnswered: (engine, orgId, name) =>
      command(engine, (work) => noteAnswered(work, orgId, name)),
  };
}
