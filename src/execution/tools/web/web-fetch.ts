/**
 * The web_fetch tool. The server's policy has judged the given address and no other, so a redirect
 * to another host, or out of encryption, is not followed but reported, and the model asks for it
 * again.
 */
import { webFetchInput } from "#protocol/tools.ts";
import { imageTypeOf } from "../file-type.ts";
import { labelFetched } from "../output/label.ts";
import { boundText } from "../output/spilled-output.ts";
import { createTool, ToolProblem } from "../perform-tool.ts";
import type { RunnerTool, ToolContext, ToolOutcome } from "../tool.ts";
import { htmlToMarkdown } from "./html-to-markdown.ts";
import { getPublic, type PublicGetOptions, type PublicResponse, readBody } from "./public-get.ts";

const TIMEOUT_MS = 20_000;
const MAX_REDIRECTS = 5;
const MAX_URL_SHOWN = 2000;

export interface WebFetchOptions extends PublicGetOptions {
  timeoutMs?: number;
}

export function createWebFetchTool(options: WebFetchOptions = {}): RunnerTool {
  const { timeoutMs = TIMEOUT_MS } = options;
  return createTool("web_fetch", webFetchInput, async (context, input) => {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([context.signal, timeout]);
    try {
      const { url, answer } = await follow(new URL(input.url), options, signal);
      return await present(context, url, answer, signal);
    } catch (error) {
      if (context.signal.aborted) throw new ToolProblem("The fetch was stopped.");
      if (timeout.aborted) {
        throw new ToolProblem(
          `The page did not load within ${timeoutMs / 1000} s. Try another one.`,
        );
      }
      throw isOfTheOutside(error)
        ? new ToolProblem(
            `The page could not be fetched (${error.code}). Check the address, or try later.`,
          )
        : error;
    }
  });
}

/** True for errors of sockets, TLS, HTTP and decompression, which carry a code. */
function isOfTheOutside(error: unknown): error is Error & { code: string } {
  return error instanceof Error && "code" in error && !("kind" in error);
}

async function follow(start: URL, options: WebFetchOptions, signal: AbortSignal) {
  let url = start;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const answer = await getPublic(url, options, signal);
    if (answer.status < 300 || answer.status >= 400 || answer.location === null) {
      return { url, answer };
    }
    answer.message.destroy();
    const target = URL.parse(answer.location, url.href);
    if (!target) throw new ToolProblem("The page redirects to an invalid address.");
    target.hash = "";
    const problem = judgeRedirect(url, target);
    if (problem !== null)
      throw new ToolProblem(
        `${show(url)} redirects to ${problem}. To follow it, fetch it directly: ${show(target)}`,
      );
    url = target;
  }
  throw new ToolProblem(`The page redirects more than ${MAX_REDIRECTS} times. Try another one.`);
}

/** Reason not to follow a redirect; null if there is none. */
function judgeRedirect(from: URL, to: URL): string | null {
  if (withoutWww(to) !== withoutWww(from)) return "another host";
  if (from.protocol === "https:" && to.protocol !== "https:")
    return "an address without encryption";
  if (to.hostname === from.hostname) return null;
  // Names with and without `www.` are two hosts: a redirect must lead to the same page, and both be
  // proven.
  const isSamePage = to.pathname === from.pathname && to.search === from.search;
  const isProven = from.protocol === "https:" && to.protocol === "https:";
  return isSamePage && isProven ? null : "another host";
}

function withoutWww(url: URL): string {
  return url.hostname.replace(/^www\./, "");
}

function show(url: URL): string {
  return url.href.slice(0, MAX_URL_SHOWN);
}

async function present(
  context: ToolContext,
  url: URL,
  answer: PublicResponse,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { mediaType, charset } = parseContentType(answer.contentType);
  const kind = kindOf(mediaType);
  if (kind === "other") {
    const length = Number(answer.message.headers["content-length"]);
    answer.message.destroy();
    const size = Number.isFinite(length) ? `${length} bytes` : "of unknown size";
    throw new ToolProblem(
      `${show(url)} is ${mediaType} (${size}); only pages, text, JSON and images can be fetched.`,
    );
  }
  const bytes = await readBody(answer);
  const title = `${show(url)} · ${answer.status} · ${mediaType}`;
  const image = kind === "image" ? imageTypeOf(bytes) : null;
  if (kind === "image") {
    if (!image) throw new ToolProblem(`${show(url)} is not an image that can be shown.`);
    const images = [{ mediaType: image, data: bytes.toString("base64") }];
    return { output: title, error: errorOf(answer.status), images };
  }
  const text = decodeText(bytes, charset);
  const content = kind === "html" ? await htmlToMarkdown(text, url.href, signal) : text;
  const bounded = await boundText(context, content);
  return {
    ...bounded,
    output: `${title}\n${labelFetched(show(url), bounded.output)}`,
    error: errorOf(answer.status),
  };
}

function errorOf(status: number): string | null {
  return status < 400 ? null : `The server answered with status ${status}.`;
}

function parseContentType(header: string) {
  const [type = "", ...parameters] = header.split(";");
  const charset = parameters
    .map((parameter) => /^\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(parameter)?.[1])
    .find((value) => value !== undefined);
  const mediaType = type.trim().toLowerCase();
  const isWellFormed = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(mediaType);
  return { mediaType: isWellFormed ? mediaType : "of no known type", charset };
}

function kindOf(mediaType: string): "html" | "text" | "image" | "other" {
  if (mediaType === "text/html" || mediaType === "application/xhtml+xml") return "html";
  if (mediaType === "image/svg+xml") return "text";
  if (mediaType.startsWith("image/")) return "image";
  const isText =
    mediaType.startsWith("text/") ||
    /^application\/(?:.+\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson|toml)$/.test(mediaType);
  return isText ? "text" : "other";
}

function decodeText(bytes: Buffer, charset = "utf-8"): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // Unknown encoding.
  }
}
