/**
 * Providers that the gateway reaches: those in settings and, if an admin allows it, those in the environment.
 */
import type { Engine } from "#engine/index.ts";
import type {
  ConfiguredProvider,
  Providers,
  ReachableProvider,
} from "#features/providers/index.ts";
import { readSettings } from "./settings.ts";

/** Address and credentials of a provider. They stay on the server. */
export interface ReachedProvider extends ReachableProvider {
  /** Anthropic's other credential, sent as a bearer token. */
  authToken?: string | undefined;
}

/** A provider whose key is in the server's environment. */
export interface EnvironmentProvider extends ReachedProvider {
  name: string;
  models: readonly string[] | null;
}

export interface ProviderSources {
  providers: Pick<Providers, "resolve" | "list" | "noteAnswered">;
  environment: readonly EnvironmentProvider[];
}

export interface FoundProvider {
  reach: ReachedProvider;
  /** Models that the organisation offers; null: the provider's own list. */
  models: readonly string[] | null;
  /** False: no request has reached it yet. */
  answered: boolean;
}

/** Finds a provider. Settings take precedence over the environment. */
export async function findProvider(
  engine: Engine,
  { providers, environment }: ProviderSources,
  orgId: string,
  name: string,
): Promise<FoundProvider | undefined> {
  const stored = await providers.resolve(engine, orgId, name);
  if (stored) {
    const all = await providers.list(engine, orgId);
    const offered = all.find((one) => one.name === name);
    return {
      reach: stored,
      models: offered?.models ?? null,
      answered: offered?.answered ?? true,
    };
  }
  if (!(await offersEnvironment(engine, orgId))) return undefined;
  const own = environment.find((one) => one.name === name);
  return own && { reach: own, models: null, answered: true };
}

export async function listProviders(
  engine: Engine,
  { providers, environment }: ProviderSources,
  orgId: string,
): Promise<ConfiguredProvider[]> {
  const stored = await providers.list(engine, orgId);
  if (!(await offersEnvironment(engine, orgId))) return stored;
  const names = new Set(stored.map(({ name }) => name));
  const own = environment.filter(({ name }) => !names.has(name));
  return [
    ...stored,
    ...own.map(({ name, kind, models }) => ({
      name,
      kind,
      models: models && [...models],
      answered: true,
    })),
  ];
}

async function offersEnvironment({ store }: Engine, orgId: string): Promise<boolean> {
  const settings = await store.read((reader) => readSettings(reader, orgId));
  return settings.environment_keys === 1;
}
