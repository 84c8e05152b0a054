/**
 * Requests to another HTTP server on a caller's behalf: redirects are not followed, nothing is decompressed,
 * and the response is returned as soon as it begins.
 */
import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

/** Last resort for a dead connection; callers have shorter limits. */
const SILENCE_MS = 15 * 60_000;

export interface UpstreamCall {
  method: "GET" | "POST";
  headers: OutgoingHttpHeaders;
  body: Buffer | undefined;
  /** Aborts the request, also while its response is being read. */
  signal: AbortSignal;
}

export function ask(
  url: URL,
  { method, headers, body, signal }: UpstreamCall,
): Promise<IncomingMessage> {
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, { method, headers, signal, timeout: SILENCE_MS });
    request.on("response", resolve);
    // The handler stays for the whole life of the request, because an error may come late.
    request.on("error", reject);
    request.on("timeout", () =>
      request.destroy(
        Object.assign(new Error("It was silent for too long."), { code: "ETIMEDOUT" }),
      ),
    );
    request.end(body);
  });
}

/** Reads the beginning of a response, without waiting for the rest. */
export async function readStart(answer: IncomingMessage, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= limit) break;
    }
  } catch {
    // The response broke off: the part that came is still worth passing on.
  }
  return Buffer.concat(chunks).subarray(0, limit);
}
