/** Headers that pass the model gateway, in both directions; all others stay behind. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import { withoutSecrets } from "#base/secrets/known-secrets.ts";
import { FROM_PROVIDER_HEADER } from "#protocol/models.ts";
import type { ReachedProvider } from "./model-gateway.ts";

/** Nothing that chooses an account, a project or a key of the provider. */
const TO_PROVIDER =
  /^(?:accept|user-agent|anthropic-(?:version|beta)|openai-beta|x-stainless-[\w-]+|http-referer|x-title)$/;
/** What Anthropic insists on, for those who ask only for its models. */
const ANTHROPIC_VERSION = "2023-06-01";

export function requestHeaders(
  given: IncomingHttpHeaders,
  { kind, apiKey, authToken }: ReachedProvider,
  body: Buffer | undefined,
): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...only(given, TO_PROVIDER) };
  // Packed answers would come in lumps, and could not be metered.
  headers["accept-encoding"] = "identity";
  if (body) {
    // Read as UTF-8 here, so it must be read as such there.
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
