/**
 * Requests to a provider, which may be slow, broken or hostile: time and size are limited, and redirects are
 * not followed. Codes and tokens go to the configured host and stay out of errors.
 */
import { problem } from "./problems.ts";

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 512 * 1024;

interface ProviderRequest {
  headers?: Record<string, string>;
  /** Body of a POST; without it the request is a GET. */
  form?: Record<string, string> | URLSearchParams | undefined;
}

export interface ProviderReply {
  status: number;
  /** Undefined when the body was no JSON. */
  json: unknown;
}

export async function askProvider(
  url: string,
  { headers = {}, form }: ProviderRequest = {},
): Promise<ProviderReply> {
  // Logs get no more than the address without its query.
  const where = new URL(url);
  const name = where.origin + where.pathname;
  const response = await fetch(url, {
    method: form ? "POST" : "GET",
    headers: { accept: "application/json", ...headers, "user-agent": "Muster" },
    ...(form ? { body: new URLSearchParams(form) } : {}),
    redirect: "manual",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw problem("provider_unavailable", `${name}: ${reasonOf(error)}`);
  });
  const text = await readBounded(response, name);
  if (response.status >= 300 && response.status < 400)
    throw problem("provider_unavailable", `${name} wants to send us elsewhere`);
  if (response.status >= 500 || response.status === 429)
    throw problem("provider_unavailable", `${name} answered ${response.status}`);
  return { status: response.status, json: parse(text) };
}

async function readBounded(response: Response, name: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of response.body ?? []) {
      size += chunk.length;
      if (size > MAX_BYTES) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw problem("provider_unavailable", `${name}: ${reasonOf(error)}`);
  }
  if (size > MAX_BYTES)
    throw problem("provider_unavailable", `${name} answered with more than ${MAX_BYTES} bytes`);
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A short reason, such as ECONNREFUSED or a timeout. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as { name?: string; cause?: { code?: string } };
  return cause?.code ?? name ?? "failed";
}

/** Matches words such as `invalid_grant`. Text with digits or capital letters could be a code or a token. */
const OAUTH_WORD = /^(?=.{1,40}$)[a-z]{2,}(?:_[a-z]{2,}){0,4}$/;

/** Returns the code of an OAuth error, if it is made of plain words. */
export function oauthError(json: unknown): string {
  const { error } = (json ?? {}) as { error?: unknown };
  return typeof error === "string" && OAUTH_WORD.test(error) ? error : "no reason given";
}
