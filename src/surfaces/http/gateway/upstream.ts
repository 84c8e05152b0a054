/**
 * Asking another HTTP server on somebody's behalf: redirects are not followed, nothing is unpacked,
 * and the answer is handed over as soon as it begins.
 */
import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

/** A backstop for a line that went dead; who asks has less patience than this. */
const SILENCE_MS = 15 * 60_000;

export interface Question {
  method: "GET" | "POST";
  headers: OutgoingHttpHeaders;
  body: Buffer | undefined;
  /** Ends the request, also while its answer is being read. */
  signal: AbortSignal;
}

export function ask(
  url: URL,
  { method, headers, body, signal }: Question,
): Promise<IncomingMessage> {
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const request = send(url, { method, headers, signal, timeout: SILENCE_MS });
    request.on("response", resolve);
    // Stays for the whole life of the request: a late error must find somebody.
    request.on("error", reject);
    request.on("timeout", () =>
      request.destroy(
        Object.assign(new Error("It was silent for too long."), { code: "ETIMEDOUT" }),
      ),
    );
    request.end(body);
  });
}

/** The beginning of an answer; the rest is not waited for. */
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
    // It broke off: what came is still worth passing on.
  }
  return Buffer.concat(chunks).subarray(0, limit);
}
