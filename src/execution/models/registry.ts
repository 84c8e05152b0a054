/**
 * Registry of the usable models: their providers, their addresses, and the reasons why others are
 * not usable yet. A provider is contacted only when it is asked for something.
 */
import { type Clock, systemClock } from "#base/clock.ts";
import { createDemoProvider, DEMO_MODEL } from "./demo/demo-provider.ts";
import { listEndpointModels } from "./endpoint-models.ts";
import type { ModelCapability, ModelProvider } from "./model.ts";
import { priceOf } from "./prices.ts";
import {
  changedProvider,
  type Environment,
  type ProviderChange,
  type ProviderSettings,
  providersFrom,
} from "./provider-settings.ts";
import { createSdkProvider } from "./sdk/sdk-provider.ts";
import type { Fetch } from "./sdk/wire-guard.ts";

export interface ModelsOptions {
  /** Settings from the caller; the real environment is never read. */
  environment: Environment;
  fetch?: Fetch;
  clock?: Clock;
  idleTimeoutMs?: number;
}

export type FoundModel =
  | { provider: ModelProvider; model: string }
  | { code: "model_not_available"; message: string };

export interface Models {
  /** Finds the provider of an id such as `anthropic/claude-sonnet-5-5`. */
  provider(id: string): FoundModel;
  /** Models that can be chosen, and one row for each provider that cannot be used yet. */
  capabilities(): Promise<ModelCapability[]>;
  /**
   * First usable model; the built-in demo when no provider is set up. While the configured
   * providers do not answer there is none: the demo must not speak in their place.
   */
  defaultModel(): Promise<DefaultModel>;
  /** Adds a provider, or replaces its settings; a known one may be given its key alone. */
  configure(name: string, change: ProviderChange): void;
  /** Undoes `configure`: the environment's settings count again. */
  forget(name: string): void;
}

type DefaultModel = { id: string } | { silent: string };

const DEMO_ID = `demo/${DEMO_MODEL}`;

interface Entry {
  settings: ProviderSettings;
  provider: ModelProvider | null;
}

/** Time that an endpoint's list of models is cached. */
const LIST_FRESH_MS = 10_000;
/** Time that the default is believed: a turn must not wait for endpoints that may not be running. */
const DEFAULT_FRESH_MS = 60_000;
/** Time that an older default is used while a new one is being looked for. */
const DEFAULT_USABLE_MS = 10 * 60_000;

export function createModels(options: ModelsOptions): Models {
  const { environment, fetch = globalThis.fetch, clock = systemClock, idleTimeoutMs } = options;
  const entries = new Map<string, Entry>();
  const lists = new Map<string, { at: number; models: Promise<string[] | null> }>();
  const demo = createDemoProvider({ clock });
  let preferred: { choice: DefaultModel; at: number } | null = null;
  /** Rises with each change of the settings: results for older ones do not count. */
  let revision = 0;
  const given = new Map(providersFrom(environment).map((settings) => [settings.name, settings]));
  for (const [name, settings] of given) entries.set(name, { settings, provider: null });

  function open(entry: Entry): ModelProvider {
    const { name, title, kind, baseUrl, apiKey, authToken, viaServer } = entry.settings;
    const reach = { name, title, kind, baseUrl, apiKey, authToken, viaServer };
    entry.provider ??= createSdkProvider({ ...reach, fetch, clock, idleTimeoutMs });
    return entry.provider;
  }

  function modelsOf({ name, baseUrl, apiKey }: ProviderSettings): Promise<string[] | null> {
    const known = lists.get(name);
    if (known && clock.now() - known.at < LIST_FRESH_MS) return known.models;
    const models = listEndpointModels(baseUrl, apiKey, fetch);
    lists.set(name, { at: clock.now(), models });
    return models;
  }

  function forgetFound(name: string): void {
    lists.delete(name);
    preferred = null;
    revision += 1;
  }

  async function offersOf({ settings }: Entry): Promise<ModelCapability[]> {
    const { name, title, missing } = settings;
    if (missing) return name === "openai-chat" ? [] : [unusable(name, missing)];
    const models = settings.models ?? (await modelsOf(settings));
    if (models === null) return [unusable(name, silentReason(settings))];
    if (models.length === 0 && settings.models === null) {
      return [unusable(name, `${title} has no models yet. Load one there first.`)];
    }
    return models.map((model) => usable(`${name}/${model}`, name));
  }

  const models: Models = {
    provider(id) {
      const slash = id.indexOf("/");
      const name = id.slice(0, Math.max(slash, 0));
      const model = id.slice(slash + 1);
      if (id === DEMO_ID) return { provider: demo, model: DEMO_MODEL };
      const entry = entries.get(name);
      if (!entry || model === "") return notAvailable(id, [...entries.keys(), "demo"]);
      const { missing, title } = entry.settings;
      if (missing)
        return { code: "model_not_available", message: `${title} cannot be used yet. ${missing}` };
      return { provider: open(entry), model };
    },
    async capabilities() {
      const asked = revision;
      const all = await Promise.all([...entries.values()].map(offersOf));
      const offers = [...all.flat(), usable(DEMO_ID, "demo")];
      if (asked === revision)
        preferred = { choice: chooseDefault(offers, entries), at: clock.now() };
      return offers;
    },
    async defaultModel() {
      if (!preferred) return chooseDefault(await models.capabilities(), entries);
      const { choice, at } = preferred;
      const ageMs = clock.now() - at;
      const isModel = "id" in choice;
      if (isModel && ageMs < DEFAULT_FRESH_MS) return choice;
      const found = models.capabilities();
      // The demo is a stand-in: it must not be used once there is something better.
      const isKept = isModel && choice.id !== DEMO_ID && ageMs < DEFAULT_USABLE_MS;
      return isKept ? choice : chooseDefault(await found, entries);
    },
    configure(name, change) {
      const before = entries.get(name)?.settings;
      entries.set(name, { settings: changedProvider(name, change, before), provider: null });
      forgetFound(name);
      // Another interface of the same account.
      const { kind: _, models: __, ...reach } = change;
      if (name === "openai") models.configure("openai-chat", reach);
    },
    forget(name) {
      const settings = given.get(name);
      if (settings) entries.set(name, { settings, provider: null });
      else entries.delete(name);
      forgetFound(name);
      if (name === "openai") models.forget("openai-chat");
    },
  };
  return models;
}

function chooseDefault(
  offers: readonly ModelCapability[],
  entries: ReadonlyMap<string, Entry>,
): DefaultModel {
  const usable = offers.filter((offer) => offer.usable && offer.id !== DEMO_ID);
  const tried = usable.find(({ provider }) => !entries.get(provider)?.settings.isUntried);
  const id = (tried ?? usable[0])?.id;
  if (id !== undefined) return { id };
  const silent = offers.find(({ usable, provider }) => !usable && isSetUp(entries.get(provider)));
  return silent ? { silent: silent.why ?? silent.provider } : { id: DEMO_ID };
}

/**
 * True for a provider with a configured address; one that is only probed on this machine does not
 * count.
 */
function isSetUp(entry: Entry | undefined): boolean {
  if (!entry || entry.settings.missing !== null) return false;
  return entry.settings.name !== "ollama" || entry.settings.viaServer === true;
}

function usable(id: string, provider: string): ModelCapability {
  return { id, provider, usable: true, why: null, price: priceOf(id) };
}

function unusable(provider: string, why: string): ModelCapability {
  return { id: `${provider}/*`, provider, usable: false, why, price: null };
}

function silentReason({ name, title, baseUrl }: ProviderSettings): string {
  const at = new URL(baseUrl).host;
  if (name === "ollama") return `No Ollama answers at ${at}. Start it, or set OLLAMA_HOST.`;
  return `${title} does not answer at ${at}. Start it, or check its address and key.`;
}

function notAvailable(id: string, names: string[]): FoundModel {
  return {
    code: "model_not_available",
    message: `There is no model ${JSON.stringify(id.slice(0, 200))}. Write it as provider/model; providers here: ${names.join(", ")}.`,
  };
}
