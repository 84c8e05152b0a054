import type { Config, Environment } from "#base/config.ts";
import { type Finding, ok, warn } from "./finding.ts";

const PROVIDER_VARIABLES = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "OPENROUTER_API_KEY",
  "OLLAMA_HOST",
  "OLLAMA_BASE_URL",
  "MUSTER_PROVIDERS",
];

/** Shows names only: the values of these variables are secret. */
export function checkModels(env: Environment, { model }: Config): Finding {
  const set = PROVIDER_VARIABLES.filter((name) => env[name]);
  const wanted = model === undefined ? "" : `MUSTER_MODEL is ${model}; `;
  if (set.length > 0) return ok("models", `${wanted}set: ${set.join(", ")}`);
  return warn(
    "models",
    `${wanted}no provider is configured in the environment; the built-in demo/story is used`,
    "Set ANTHROPIC_API_KEY or OPENAI_API_KEY, run Ollama, or add one with: muster providers set. `muster models` shows what a running server can use.",
  );
}
