import type { Config, Environment } from "#base/config.ts";
import { type Finding, ok, warn } from "./finding.ts";

const PROVIDER_VARIABLES = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_BASE_URL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "GEMINI_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "OPENROUTER_API_KEY",
  "MISTRAL_API_KEY",
  "GROQ_API_KEY",
  "XAI_API_KEY",
  "DEEPSEEK_API_KEY",
  "OLLAMA_HOST",
];

/** Names only: what the variables hold is nobody's business. */
export function checkModels(env: Environment, { model }: Config): Finding {
  const set = PROVIDER_VARIABLES.filter((name) => env[name]);
  const wanted = model === undefined ? "" : `MUSTER_MODEL is ${model}; `;
  if (set.length > 0) return ok("models", `${wanted}set: ${set.join(", ")}`);
  return warn(
    "models",
    `${wanted}no provider is set up`,
    "Set ANTHROPIC_API_KEY or OPENAI_API_KEY for the server, with a base URL if it is not the usual one.",
  );
}
