/**
 * Makes one GET to the public internet on behalf of an agent. The name is resolved and judged first
 * and the judged address is dialled, so a second answer of the resolver changes nothing. Nothing of
 * the machine goes along: no cookies, no credentials, no proxy settings. Size and time are bounded,
 * before and after decompression.
 */
import * as http from "node:http";
import * as https from "node:https";
import { isIP } from "node:net";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import {
  findUrlProblem,
  type ResolveOptions,
  resolvePublic,
  type UrlRules,
} from "#base/net/address-rules.ts";
import { ToolProblem } from "../perform-tool.ts";

export const MAX_BODY_BYTES = 5 * 1024 ** 2;
const USER_AGENT = "Mozilla/5.0 (compatible; Muster/1.0)";

export type PublicGetOptions = ResolveOptions & UrlRules;

export interface PublicResponse {
  status: number;
  /** Content type as the server wrote it. */
  contentType: string;
  location: string | null;
  /** Unread answer for `readBody`. An unwanted one must be destroyed. */
  message: http.IncomingMessage;
}

export async function getPublic(
  url: URL,
  options: PublicGetOptions,
  signal: AbortSignal,
): Promise<PublicResponse> {
  const problem = findUrlProblem(url, options);
  if (problem) throw new ToolProblem(`${problem.code}: ${problem.message}`);
  const { address, family } = await unlessAborted(resolvePublic(url.hostname, options), signal);
  const isSecure = url.protocol === "https:";
  const { request, Agent } = isSecure ? https : http;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const message = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const sent = request(
      {
        method: "GET",
        host: address,
        family,
        port: url.port || (isSecure ? 443 : 80),
        path: `${url.pathname}${url.search}`,
        headers: {
          host: url.host,
          "user-agent": USER_AGENT,
          accept: "text/html,application/json,text/*;q=0.9,image/*;q=0.8,*/*;q=0.1",
          "accept-encoding": "gzip, deflate, br",
        },
        // A server proves the requested name, not the address; addresses have no server name.
        ...(isSecure && isIP(host) === 0 ? { servername: host } : {}),
        agent: new Agent({ keepAlive: false }),
        signal,
      },
      resolve,
    );
    sent.on("error", reject);
    sent.on("upgrade", (_message, socket) => socket.destroy(new Error("It wants no HTTP.")));
    sent.end();
  });
  return {
    status: message.statusCode ?? 0,
    contentType: message.headers["content-type"] ?? "",
    location: message.headers.location ?? null,
    message,
  };
}

/** The system's resolver cannot be stopped, but nobody need wait for it. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

export async function readBody({ message }: PublicResponse): Promise<Buffer> {
  const body = decompress(message);
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of body as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > MAX_BODY_BYTES) {
        throw new ToolProblem(
          `The answer has more than ${MAX_BODY_BYTES} bytes, which is too large. Fetch a smaller page.`,
        );
      }
      pieces.push(piece);
    }
  } finally {
    message.destroy();
    body.destroy();
  }
  return Buffer.concat(pieces);
}

/** Chunks come out one by one, so a bomb is noticed at the first chunk too many. */
function decompress(message: http.IncomingMessage): Readable {
  const encoding = (message.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const decoder = createDecoder(encoding);
  if (decoder === null) return message;
  if (decoder === undefined) {
    message.destroy();
    throw new ToolProblem(`The answer has an unsupported encoding (${encoding.slice(0, 50)}).`);
  }
  message.on("error", (error) => decoder.destroy(error));
  return message.pipe(decoder);
}

function createDecoder(encoding: string) {
  switch (encoding) {
    case "":
    case "identity":
      return null;
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return undefined;
  }
}
