/** Headers that pass the model gateway, in both directions; all others are dropped. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { withoutSecrets } from "#base/secrets/known-secrets.ts";
import { FROM_PROVIDER_HEADER } from "#protocol/models.ts";
import type { ReachedProvider } from "./model-gateway.ts";

/** Allowed headers. None chooses an account, a project or a key of the provider. */
const TO_PROVIDER =
  /^(?:accept|user-agent|anthropic-(?:version|beta)|openai-beta|x-stainless-[\w-]+|http-referer|x-title)$/;
/** Version that Anthropic requires, for requests that only list its models. */
const ANTHROPIC_VERSION = "2023-06-01";

export function requestHeaders(
  given: IncomingHttpHeaders,
  { kind, apiKey, authToken }: ReachedProvider,
  body: Buffer | undefined,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...only(given, TO_PROVIDER) };
  // Compressed responses would come in large pieces, and could not be metered.
  headers["accept-encoding"] = "identity";
  if (body) {
    // The body was read as UTF-8 here, so the provider must read it as such.
    headers["content-type"] = "application/json";
    headers["content-length"] = body.length;
  }
  if (kind === "anthropic") headers["anthropic-version"] ??= ANTHROPIC_VERSION;
  if (apiKey !== null && kind === "anthropic") headers["x-api-key"] = apiKey;
  else if (apiKey !== null || authToken !== undefined)
    headers.authorization = `Bearer ${apiKey ?? authToken}`;
  return headers;
}

const TO_RUNNER =
  /^(?:content-type|content-encoding|retry-after|retry-after-ms|anthropic-ratelimit-[\w-]+|x-ratelimit-[\w-]+|request-id|x-request-id)$/;

export function responseHeaders(given: IncomingHttpHeaders): OutgoingHttpHeaders {
  const kept = Object.entries(only(given, TO_RUNNER));
  const safe = kept.map(([name, value]) => [name, withoutSecrets(String(value))] as const);
  return { ...Object.fromEntries(safe), [FROM_PROVIDER_HEADER]: "1" };
}

export function secretsOf({ apiKey, authToken }: ReachedProvider): string[] {
  return [apiKey, authToken].filter((secret) => secret != null);
}

function only(headers: IncomingHttpHeaders, names: RegExp): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.test(name)));
}
