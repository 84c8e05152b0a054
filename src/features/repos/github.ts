/**
 * Reads repositories from GitHub, page by page. This code counts pages itself and never follows an address
 * from a response, so the token goes to the configured host alone. Every response is checked before it is
 * used.
 */
import type { Octokit } from "octokit";
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import { cleanText } from "#base/text/clean-text.ts";

export const GITHUB_API_URL = "https://api.github.com";
const PAGE_SIZE = 100;
const REQUEST_TIMEOUT_MS = 20_000;
const RETRY_MS = 500;
/** Delay that a caller is told to wait. */
const ASK_AGAIN_MS = 30_000;
/** Pause after a limit for which GitHub gives no end. */
const LIMIT_PAUSE_MS = 60_000;

const text = (max: number) =>
  z
    .string()
    .nullish()
    .transform((value) => (value ? cleanText(value).trim().slice(0, max).toWellFormed() : null));

const foundSchema = z.object({
  full_name: z.string().max(300),
  clone_url: z.string().max(2_000),
  description: text(2_000),
  default_branch: text(250),
  language: text(100),
  topics: z
    .array(z.string())
    .nullish()
    .transform((all) => (all ?? []).slice(0, 50).map((topic) => cleanText(topic).slice(0, 100))),
  archived: z.boolean().nullish(),
});
export type FoundRepo = z.infer<typeof foundSchema>;

export type GithubPage =
  | { kind: "page"; repos: FoundRepo[]; unreadable: number; hasNext: boolean; until: number | null }
  /** No further request before `until`. */
  | { kind: "limited"; until: number };

export interface GithubQuestion {
  apiUrl: string;
  token: string;
  /** Undefined: all repositories that the token's owner works on. */
  owner: string | undefined;
  now: () => number;
}

type Listing = { route: string; parameters: Record<string, string> };

/**
 * Yields pages until the last one, or until one that says `limited`. Refuses problems that a person must fix.
 */
export async function* readGithub(question: GithubQuestion): AsyncGenerator<GithubPage> {
  const octokit = await connect(question);
  let listing: Listing | undefined;
  for (let page = 1; ; page++) {
    let answer: GithubPage;
    try {
      listing ??= await listingOf(octokit, question.owner);
      answer = await readPage(octokit, listing, page, question.now);
    } catch (error) {
      answer = { kind: "limited", until: limitOf(error, question) };
    }
    yield answer;
    if (answer.kind === "limited" || !answer.hasNext) return;
  }
}

/** Octokit is loaded on demand: few servers ever use GitHub. */
async function connect({ apiUrl, token }: GithubQuestion): Promise<Octokit> {
  const { Octokit } = await import("octokit");
  const silent = () => {};
  return new Octokit({
    auth: token,
    baseUrl: apiUrl.replace(/\/+$/, ""),
    userAgent: "muster",
    // A limit may last an hour: the caller gets a refusal instead of waiting.
    throttle: { enabled: false },
    retry: {
      retries: 1,
      retryAfterBaseValue: RETRY_MS,
      doNotRetry: [400, 401, 403, 404, 410, 422, 429, 451],
    },
    log: { debug: silent, info: silent, warn: silent, error: silent },
  });
}

/** An account lists its private repositories only to itself, and at another route. */
async function listingOf(octokit: Octokit, owner: string | undefined): Promise<Listing> {
  if (owner === undefined) return { route: "GET /user/repos", parameters: {} };
  const { data } = await ask(octokit, "GET /users/{owner}", { owner });
  if ((data as { type?: unknown }).type === "Organization") {
    return { route: "GET /orgs/{owner}/repos", parameters: { owner } };
  }
  const me = (await ask(octokit, "GET /user", {})).data as { login?: unknown };
  if (String(me.login).toLowerCase() === owner.toLowerCase()) {
    return { route: "GET /user/repos", parameters: { affiliation: "owner" } };
  }
  return { route: "GET /users/{owner}/repos", parameters: { owner } };
}

async function readPage(
  octokit: Octokit,
  { route, parameters }: Listing,
  page: number,
  now: () => number,
): Promise<GithubPage> {
  const query = { ...parameters, sort: "full_name", per_page: PAGE_SIZE, page };
  const { data, headers } = await ask(octokit, route, query);
  const items = z.array(z.unknown()).safeParse(data);
  if (!items.success) throw notGithub();
  const parsed = items.data.map((item) => foundSchema.safeParse(item));
  const repos = parsed.flatMap(({ data: repo }) => (repo ? [repo] : []));
  const isSpent = headers["x-ratelimit-remaining"] === "0";
  return {
    kind: "page",
    repos,
    unreadable: parsed.length - repos.length,
    hasNext: /<[^<>]*>\s*;[^,<]*\brel="?next\b/.test(headers.link ?? ""),
    until: isSpent ? limitEnd(headers, now) : null,
  };
}

type Headers = Readonly<Record<string, string | undefined>>;

async function ask(
  octokit: Octokit,
  route: string,
  parameters: Record<string, unknown>,
): Promise<{ data: unknown; headers: Headers }> {
  const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  const { data, headers } = await octokit.request(route, { ...parameters, request: { signal } });
  return { data, headers: headers as Headers };
}

/** Returns the end of a rate limit; refuses any other error. No message contains the token. */
function limitOf(error: unknown, { owner, now }: GithubQuestion): number {
  if (error instanceof Refusal) throw error;
  const { status, response } = error as { status?: number; response?: { headers?: Headers } };
  const headers = response?.headers ?? {};
  const isLimit =
    status === 429 ||
    (status === 403 && (headers["x-ratelimit-remaining"] === "0" || "retry-after" in headers));
  if (isLimit) return limitEnd(headers, now);
  if (status === 401) {
    throw new Refusal(
      "conflict",
      "github_token_refused",
      "GitHub does not accept this token: it is wrong or has expired. Store a new one in the secret and sync again.",
    );
  }
  if (status === 403) {
    throw new Refusal(
      "conflict",
      "github_forbidden",
      "GitHub does not let this token list repositories. Give it the right to read repositories, or use another.",
    );
  }
  if (status === 404) {
    throw new Refusal(
      "not_found",
      "github_owner_unknown",
      `GitHub does not show the account ${owner ?? ""} to this token. Check the name and the token's rights.`,
    );
  }
  throw new Refusal(
    "unavailable",
    "github_unreachable",
    "GitHub gave no usable answer. What was read so far is kept. Sync again later.",
    { retryAfterMs: ASK_AGAIN_MS },
  );
}

function limitEnd(headers: Headers, now: () => number): number {
  const after = Number(headers["retry-after"]);
  if (after > 0) return now() + after * 1_000;
  const reset = Number(headers["x-ratelimit-reset"]) * 1_000;
  return reset > now() ? reset : now() + LIMIT_PAUSE_MS;
}

function notGithub(): Refusal {
  return new Refusal(
    "unavailable",
    "github_unreachable",
    "The server at this address is not GitHub's API. Check the address of the API in the settings.",
  );
}
