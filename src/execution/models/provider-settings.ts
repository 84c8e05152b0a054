/**
 * Providers and their addresses, from a record of settings. Nothing here reads the environment: the
 * caller passes the record.
 */
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import { PROVIDER_KINDS, type ProviderKind } from "./sdk/kinds.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProviderSettings {
  name: string;
  title: string;
  kind: ProviderKind;
  baseUrl: string;
  apiKey?: string;
  authToken?: string;
  /** Offered models; null if the endpoint is to be asked. */
  models: readonly string[] | null;
  /** Uses the server's model gateway, with the token of the run instead of a key. */
  viaServer?: boolean;
  /** True when it did not answer at set-up: not the default while another model is available. */
  isUntried?: boolean;
  /** Variable that holds the key; null when none is needed. */
  keyName: string | null;
  /** Reason why the provider cannot be used yet; null when it can. */
  missing: string | null;
}

/** Models by the names people know; the first of each list is the default. */
const ANTHROPIC_MODELS = [
  "claude-sonnet-5-5",
  "claude-opus-5-5",
  "claude-haiku-5-5",
  "claude-fable-5-1",
];
const OPENAI_MODELS = ["gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-luna", "gpt-6-astra"];
const OPENROUTER_MODELS = ["openrouter/auto"];
const OLLAMA_PORT = "11434";

const NAME = /^[a-z][a-z0-9-]{0,40}$/;
const customSchema = z.record(
  z.string().regex(NAME, "a name of lower-case letters, digits and dashes"),
  z.strictObject({
    baseUrl: z.string(),
    apiKey: z.string().min(1).optional(),
    kind: z.enum(PROVIDER_KINDS).default("openai-compatible"),
    models: z.array(z.string().min(1)).max(500).optional(),
  }),
);

type Unchecked = Omit<ProviderSettings, "missing">;

export function providersFrom(environment: Environment): ProviderSettings[] {
  const set = (name: string) => environment[name]?.trim() || undefined;
  const apiKey = (keyName: string) => ({ keyName, ...withKey(set(keyName)) });
  const authToken = set("ANTHROPIC_AUTH_TOKEN");
  const openai = {
    title: "OpenAI",
    baseUrl: set("OPENAI_BASE_URL") ?? "https://api.openai.com/v1",
    ...apiKey("OPENAI_API_KEY"),
  };
  const found: Unchecked[] = [
    {
      name: "anthropic",
      title: "Anthropic",
      kind: "anthropic",
      baseUrl: set("ANTHROPIC_BASE_URL") ?? "https://api.anthropic.com/v1",
      ...apiKey("ANTHROPIC_API_KEY"),
      ...(authToken ? { authToken } : {}),
      models: ANTHROPIC_MODELS,
    },
    { name: "openai", kind: "openai", models: OPENAI_MODELS, ...openai },
    { name: "openai-chat", kind: "openai-chat", models: [], ...openai },
    {
      name: "openrouter",
      title: "OpenRouter",
      kind: "openai-compatible",
      baseUrl: set("OPENROUTER_BASE_URL") ?? "https://openrouter.ai/api/v1",
      ...apiKey("OPENROUTER_API_KEY"),
      models: OPENROUTER_MODELS,
    },
    {
      name: "ollama",
      title: "Ollama",
      kind: "openai-compatible",
      baseUrl: ollamaUrl(set("OLLAMA_BASE_URL") ?? set("OLLAMA_HOST")),
      keyName: null,
      models: null,
    },
  ];
  return [...found.map(checked), ...customFrom(set("MUSTER_PROVIDERS"))];
}

/** Keys and tokens of all providers, to be kept out of everything that is shown. */
export function secretsIn(environment: Environment): string[] {
  return providersFrom(environment).flatMap(({ apiKey, authToken }) =>
    [apiKey, authToken].filter((secret) => secret !== undefined),
  );
}

/** Marks a built-in provider with a bad address or a missing key as unusable, with the reason. */
function checked(settings: Unchecked): ProviderSettings {
  const { apiKey, authToken, keyName } = settings;
  const missing =
    keyName && !apiKey && !authToken
      ? `Set ${keyName} and restart, or add the key in settings.`
      : null;
  try {
    return { ...settings, baseUrl: normalBaseUrl(settings.baseUrl), missing };
  } catch (error) {
    return { ...settings, missing: (error as Error).message };
  }
}

export interface ProviderChange {
  baseUrl?: string | undefined;
  apiKey?: string | undefined;
  kind?: ProviderKind | undefined;
  models?: readonly string[] | undefined;
  viaServer?: boolean | undefined;
  isUntried?: boolean | undefined;
}

/**
 * Settings after a person's change, for a known provider or a new one; refused when they make no
 * sense.
 */
export function changedProvider(
  name: string,
  change: ProviderChange,
  before?: ProviderSettings,
): ProviderSettings {
  if (!NAME.test(name) || name === "demo") {
    throw new Refusal(
      "invalid",
      "provider_name_invalid",
      `The name ${JSON.stringify(name)} cannot be used. Use up to 32 lower-case letters, digits and dashes, but not demo.`,
    );
  }
  const {
    missing: _old,
    authToken,
    ...kept
  } = before ?? {
    name,
    title: name,
    kind: "openai-compatible",
    baseUrl: "",
    keyName: null,
    models: null,
    missing: null,
  };
  return checked({
    ...kept,
    kind: change.kind ?? kept.kind,
    baseUrl: normalBaseUrl(change.baseUrl ?? kept.baseUrl),
    models: change.models ?? kept.models,
    viaServer: change.viaServer ?? false,
    isUntried: change.isUntried ?? false,
    ...withKey(change.apiKey ?? kept.apiKey),
    // A key given now replaces the earlier token.
    ...(authToken && change.apiKey === undefined ? { authToken } : {}),
  });
}

function customFrom(json: string | undefined): ProviderSettings[] {
  if (!json) return [];
  const parsed = customSchema.safeParse(parseJson(json));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Refusal(
      "invalid",
      "setting_invalid",
      `MUSTER_PROVIDERS must be JSON such as {"name": {"baseUrl": "http://localhost:8000/v1"}}: ${issue?.path.join(".") || "the value"}: ${issue?.message ?? "not valid"}.`,
    );
  }
  return Object.entries(parsed.data).map(([name, custom]) => changedProvider(name, custom));
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/**
 * Address with `/v1` at its end, whether it was given with it, without it, or with a route behind
 * it.
 */
export function normalBaseUrl(given: string): string {
  const url = URL.parse(given.trim());
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new Refusal(
      "invalid",
      "base_url_invalid",
      "The address of a model provider must start with http:// or https:// and must not contain a user name or password. Set the key separately.",
    );
  }
  const path = url.pathname
    .replace(/\/+$/, "")
    .replace(/\/(?:chat\/completions|completions|responses|messages|models)$/, "");
  // Some providers name their version differently, or have a path of their own behind it.
  const isVersioned = /\/v\d+[a-z0-9]*(?:\/|$)/.test(path);
  return `${url.origin}${path}${isVersioned ? "" : "/v1"}`;
}

/** Address as Ollama's own program reads it: a name or an address, with or without a port. */
function ollamaUrl(given = "127.0.0.1"): string {
  const hasScheme = /^https?:\/\//i.test(given);
  const url = URL.parse(hasScheme ? given : `http://${given}`);
  if (!url) return given;
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1";
  if (url.port === "" && !hasScheme) url.port = OLLAMA_PORT;
  url.pathname = url.pathname.replace(/\/(?:api|v1)\/?$/, "");
  return url.href;
}

function withKey(apiKey: string | undefined): { apiKey?: string } {
  return apiKey === undefined ? {} : { apiKey };
}
