/**
 * Asks a provider for its models before its settings are saved, to find out whether it takes the key.
 * Costs nothing there: no model is run.
 */
import { Refusal } from "#base/refusal.ts";
import type { ProviderKind } from "./contract.ts";
import type { ReachableProvider } from "./reachable-provider.ts";

export type Fetch = typeof globalThis.fetch;

/**
 * `answered`: it took the key, or has no list to ask for. `unreachable`: nobody answered, so nothing
 * is known about the key.
 */
export type ProviderAnswer = "answered" | "unreachable";

const TIMEOUT_MS = 5_000;
const MAX_BODY_BYTES = 8_192;
const ANTHROPIC_VERSION = "2023-06-01";
/** Offers its list to everybody, and tells about a key at an address of its own. */
const OPENROUTER = "openrouter.ai";

/** Refuses with `provider_key_refused` or `key_required` when the provider does not take the key. */
export async function askProvider(
  provider: ReachableProvider,
  fetch: Fetch,
): Promise<ProviderAnswer> {
  const { kind, baseUrl, apiKey } = provider;
  const { hostname, host } = new URL(baseUrl);
  const path = hostname === OPENROUTER && apiKey !== null ? "key" : "models";
  let status: number;
  let said: string;
  try {
    const response = await fetch(`${baseUrl}/${path}`, {
      headers: headersFor(kind, apiKey),
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    status = response.status;
    said = await readStart(response);
  } catch {
    return "unreachable";
  }
  if (isKeyRefused(status, said)) throw refusal(host, status, apiKey !== null);
  return status >= 500 ? "unreachable" : "answered";
}

function headersFor(kind: ProviderKind, apiKey: string | null): Record<string, string> {
  if (apiKey === null) return {};
  return kind === "anthropic"
    ? { "x-api-key": apiKey, "anthropic-version": ANTHROPIC_VERSION }
    : { authorization: `Bearer ${apiKey}` };
}

/** 403 is no word about the key: a good one may lack the right to list models. */
function isKeyRefused(status: number, said: string): boolean {
  return (
    status === 401 || (status === 400 && /api[ _-]?key[^.]{0,40}(?:not valid|invalid)/i.test(said))
  );
}

function refusal(host: string, status: number, hasKey: boolean): Refusal {
  return hasKey
    ? new Refusal(
        "invalid",
        "provider_key_refused",
        `${host} does not accept this key (status ${status}). Nothing was saved. Check the key, and that it belongs to this address.`,
      )
    : new Refusal(
        "invalid",
        "key_required",
        `${host} needs a key (status ${status}). Nothing was saved. Give the key as apiKey.`,
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
