/**
 * Requests a provider's list of models before its settings are saved, to check the key and the protocol. The
 * request is free, because no model runs.
 */
import { Refusal } from "#base/refusal.ts";
import type { ProviderKind } from "./contract.ts";
import type { ReachableProvider } from "./reachable-provider.ts";

export type Fetch = typeof globalThis.fetch;

/**
 * `answered`: the provider sent its list, or a statement about the key. `unknown`: no response, or one that
 * says nothing about the key.
 */
export type KeyCheck = "answered" | "unknown";

const TIMEOUT_MS = 5_000;
const MAX_BODY_BYTES = 8_192;
const ANTHROPIC_VERSION = "2023-06-01";
/** OpenRouter shows its list to everybody, and checks keys at a separate address. */
const OPENROUTER = "openrouter.ai";

/** Common providers' messages for a wrong key, which some send with status 400. */
const WORDS_ABOUT_KEY =
  /(?:api[ _-]?|access[ _-]?|auth\w*[ _-])(?:key|token)s?\b[^.]{0,40}(?:not valid|invalid|incorrect|wrong|expired|revoked|missing|required|not found|unknown)|(?:invalid|incorrect|wrong|expired|revoked|missing|unknown|no)[ _-](?:x-)?(?:api[ _-]?|access[ _-]?|auth\w*[ _-])(?:key|token)|api_key_invalid|invalid_api_key|unauthori[sz]ed/i;
/** Messages of a provider that accepts the key but does not let it list models: it may still run them. */
const WORDS_ABOUT_SCOPE = /(?:missing|insufficient)[ _](?:scopes?|permissions?)/i;

interface ProviderResponse {
  status: number;
  /** Beginning of the body. */
  bodyStart: string;
}

/**
 * Refuses with `provider_key_refused` or `key_required` when the provider does not accept the key, and with
 * `provider_address_wrong` when something else responds. `namesModels`: a server without a list of models is
 * accepted when its models are named.
 */
export async function askProvider(
  provider: ReachableProvider,
  fetch: Fetch,
  { namesModels }: { namesModels: boolean },
): Promise<KeyCheck> {
  const { host } = new URL(provider.baseUrl);
  const answered = await ask(provider, fetch);
  if (!answered) return "unknown";
  const { status, bodyStart } = answered;
  if (status >= 500) return "unknown";
  if (isKeyRefused(answered)) throw keyRefusal(host, status, provider.apiKey !== null);
  const isRedirect = status >= 300 && status < 400;
  const hasNoList = status === 404 || status === 405;
  if (isRedirect || isPage(bodyStart) || (hasNoList && !namesModels))
    throw addressRefusal(host, status);
  return status < 300 && /^\s*[[{]/.test(bodyStart) ? "answered" : "unknown";
}

/** Returns undefined when no response came in time. */
async function ask(
  { kind, baseUrl, apiKey }: ReachableProvider,
  fetch: Fetch,
): Promise<ProviderResponse | undefined> {
  const isOpenrouter = new URL(baseUrl).hostname === OPENROUTER;
  const path = isOpenrouter && apiKey !== null ? "key" : "models";
  try {
    const response = await fetch(`${baseUrl}/${path}`, {
      headers: headersFor(kind, apiKey),
      // Redirects are not followed: the key is for this address alone.
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return { status: response.status, bodyStart: await readStart(response) };
  } catch {
    return undefined;
  }
}

function headersFor(kind: ProviderKind, apiKey: string | null): Record<string, string> {
  if (apiKey === null) return {};
  return kind === "anthropic"
    ? { "x-api-key": apiKey, "anthropic-version": ANTHROPIC_VERSION }
    : { authorization: `Bearer ${apiKey}` };
}

function isKeyRefused({ status, bodyStart }: ProviderResponse): boolean {
  if (status === 403) return !WORDS_ABOUT_SCOPE.test(bodyStart) && !isPage(bodyStart);
  return status === 401 || (status === 400 && WORDS_ABOUT_KEY.test(bodyStart));
}

function isPage(bodyStart: string): boolean {
  return /^\s*</.test(bodyStart);
}

function addressRefusal(host: string, status: number): Refusal {
  return new Refusal(
    "invalid",
    "provider_address_wrong",
    `${host} answered (status ${status}), but does not speak this protocol at this address. Nothing was saved. Check the base URL: most end in /v1, and none in /models or /chat/completions. If this server has no list of models, name its models.`,
  );
}

function keyRefusal(host: string, status: number, hasKey: boolean): Refusal {
  return hasKey
    ? new Refusal(
        "invalid",
        "provider_key_refused",
        `${host} does not accept this key (status ${status}). Nothing was saved. Check the key, and that it belongs to this address.`,
      )
    : new Refusal(
        "invalid",
        "key_required",
        `${host} needs a key (status ${status}). Nothing was saved. Send the key as apiKey.`,
      );
}

async function readStart(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  while (size < MAX_BODY_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    size += value.length;
  }
  await reader.cancel();
  return Buffer.concat(chunks).toString("utf8");
}
