/** Presets for adding a model, and the request for each. Pure. */
import type { Provider, ProviderChange, ProviderKind } from "#features/providers/contract.ts";

export interface Preset {
  id: "anthropic" | "openai" | "openrouter" | "ollama" | "other";
  title: string;
  means: string;
  /** Null if the person chooses the name. */
  name: string | null;
  kind: ProviderKind;
  /** Null for the default address of the kind. */
  baseUrl: string | null;
  /** True if the form asks for the address at once, and not only on demand. */
  asksAddress: boolean;
  key: "needed" | "optional";
  /** Address of the page where keys are made. */
  keysAt: string | null;
}

export const PRESETS: readonly Preset[] = [
  {
    id: "anthropic",
    title: "Anthropic",
    means: "Claude models",
    name: "anthropic",
    kind: "anthropic",
    baseUrl: null,
    asksAddress: false,
    key: "needed",
    keysAt: "https://console.anthropic.com/settings/keys",
  },
  {
    id: "openai",
    title: "OpenAI",
    means: "GPT models",
    name: "openai",
    kind: "openai",
    baseUrl: null,
    asksAddress: false,
    key: "needed",
    keysAt: "https://platform.openai.com/api-keys",
  },
  {
    id: "openrouter",
    title: "OpenRouter",
    means: "Many providers, one key",
    name: "openrouter",
    kind: "openai-compatible",
    baseUrl: "https://openrouter.ai/api/v1",
    asksAddress: false,
    key: "needed",
    keysAt: "https://openrouter.ai/settings/keys",
  },
  {
    id: "ollama",
    title: "Ollama",
    means: "Runs on your machine",
    name: "ollama",
    kind: "openai-compatible",
    baseUrl: "http://127.0.0.1:11434",
    asksAddress: true,
    key: "optional",
    keysAt: null,
  },
  {
    id: "other",
    title: "Custom endpoint",
    means: "Any OpenAI-compatible API",
    name: null,
    kind: "openai-compatible",
    baseUrl: null,
    asksAddress: true,
    key: "optional",
    keysAt: null,
  },
];

const OTHER = PRESETS.find(({ id }) => id === "other") as Preset;

export function presetNamed(name: string): Preset {
  return PRESETS.find((preset) => preset.name === name) ?? OTHER;
}

/** Form state without the key, which is not kept. */
export interface ProviderDraft {
  name: string;
  baseUrl: string;
  /** Model names, separated by commas, blanks or line breaks. */
  models: string;
}

export const EMPTY_DRAFT: ProviderDraft = { name: "", baseUrl: "", models: "" };

export function draftOf(provider: Provider): ProviderDraft {
  return {
    name: provider.name,
    baseUrl: provider.baseUrl ?? "",
    models: provider.models?.join("\n") ?? "",
  };
}

export type FieldName = "name" | "baseUrl" | "apiKey" | "models";
export type Problems = Partial<Record<FieldName, string>>;

/** Finds problems before asking the server. `before` is the provider to be changed. */
export function problemsOf(
  preset: Preset,
  draft: ProviderDraft,
  apiKey: string,
  { before, taken }: { before: Provider | undefined; taken: readonly string[] },
): Problems {
  const problems: Problems = {};
  const name = nameOf(preset, draft);
  if (before === undefined && preset.name === null) {
    if (name === "") problems.name = "Enter a short name, such as house.";
    else if (taken.includes(name))
      problems.name = "This name is taken. Choose another, or edit the existing provider.";
  }
  if (draft.baseUrl.trim() === "" && preset.asksAddress && preset.baseUrl === null)
    problems.baseUrl = "Enter its URL, such as http://127.0.0.1:8000/v1.";
  if (apiKey === "" && preset.key === "needed" && !before?.hasKey)
    problems.apiKey = `${preset.title} needs a key.`;
  return problems;
}

export function nameOf(preset: Preset, draft: ProviderDraft): string {
  return preset.name ?? draft.name.trim();
}

export function changeOf(
  preset: Preset,
  draft: ProviderDraft,
  apiKey: string,
  before: Provider | undefined,
): ProviderChange {
  const baseUrl = draft.baseUrl.trim() || preset.baseUrl || "";
  const models = draft.models.split(/[\s,]+/).filter((name) => name !== "");
  const change: ProviderChange = { kind: before?.kind ?? preset.kind };
  if (baseUrl !== "" && baseUrl !== before?.baseUrl) change.baseUrl = baseUrl;
  if (apiKey !== "") change.apiKey = apiKey;
  if (models.length > 0) change.models = models;
  else if (before !== undefined && before.models !== null) change.models = null;
  return change;
}

const FIELD_OF_CODE: Readonly<Record<string, FieldName>> = {
  key_required: "apiKey",
  provider_key_refused: "apiKey",
  provider_address_wrong: "baseUrl",
  base_url_required: "baseUrl",
  base_url_invalid: "baseUrl",
  provider_name_invalid: "name",
};

interface Refused {
  code: string;
  message: string;
  details: readonly { path: string; message: string }[];
}

/** Maps the server's refusal to fields; empty when it is about something else. */
export function refusedFields({ code, message, details }: Refused): Problems {
  const field = FIELD_OF_CODE[code];
  if (field !== undefined) return { [field]: message };
  const problems: Problems = {};
  for (const { path, message: text } of details) {
    const [top] = path.split(".");
    if (top === "apiKey" || top === "baseUrl" || top === "models") problems[top] = sentence(text);
  }
  return problems;
}

function sentence(text: string): string {
  return /^must\b/.test(text) ? `This ${text}.` : text;
}
