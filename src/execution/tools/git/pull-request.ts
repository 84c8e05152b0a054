/**
 * Opens a pull request by GitHub's API. The token goes to the address that the server named and
 * nowhere else: redirects are not followed. GitHub's answer is information, cut to a bearable
 * length.
 */
import * as z from "zod";
import { cleanText } from "#base/text/clean-text.ts";
import { ToolProblem } from "../perform-tool.ts";

export interface PullRequestApi {
  fullName: string;
  apiUrl: string;
  credential: { secret: string; password: string };
}

export interface NewPullRequest {
  title: string;
  body: string;
  head: string;
  base: string;
  draft: boolean;
  signal: AbortSignal;
}

export interface PullRequest {
  url: string;
  number: number;
  isDraft: boolean;
  /** False when the pull request was open before. */
  isNew: boolean;
}

const TIMEOUT_MS = 30_000;
const MAX_ANSWER_CHARS = 4_000_000;
const MAX_REPLY_CHARS = 500;
const CREATED = 201;
const UNPROCESSABLE = 422;

const pullSchema = z.object({
  number: z.number().int(),
  html_url: z.url({ protocol: /^https?$/ }).max(2_000),
  draft: z.boolean().nullish(),
});
const problemSchema = z.object({
  message: z.string().optional(),
  errors: z.array(z.object({ message: z.string().optional() })).optional(),
});

export async function openPullRequest(
  api: PullRequestApi,
  pullRequest: NewPullRequest,
): Promise<PullRequest> {
  const before = await findOpen(api, pullRequest);
  if (before) return before;
  const { title, body, head, base, draft } = pullRequest;
  const answer = await ask(api, pullRequest.signal, "", { title, body, head, base, draft });
  if (answer.status === CREATED) return requestOf(answer.json, true);
  // Somebody may have opened one at the same moment.
  const meanwhile = answer.status === UNPROCESSABLE ? await findOpen(api, pullRequest) : undefined;
  if (meanwhile) return meanwhile;
  throw problem(api, answer, "Opening the pull request");
}

async function findOpen(
  api: PullRequestApi,
  { head, base, signal }: NewPullRequest,
): Promise<PullRequest | undefined> {
  const [owner = ""] = api.fullName.split("/");
  const query = new URLSearchParams({ state: "open", head: `${owner}:${head}`, base });
  const answer = await ask(api, signal, `?${query}`);
  if (answer.status !== 200) throw problem(api, answer, "Looking for open pull requests");
  const found = z.array(z.unknown()).safeParse(answer.json).data ?? [];
  return found[0] === undefined ? undefined : requestOf(found[0], false);
}

function requestOf(json: unknown, isNew: boolean): PullRequest {
  const pull = pullSchema.safeParse(json);
  if (!pull.success) {
    throw new ToolProblem(
      "GitHub answered without a pull request. Check the repository before you try again.",
    );
  }
  const { number, html_url: url, draft } = pull.data;
  return { url, number, isDraft: draft === true, isNew };
}

interface ApiReply {
  status: number;
  json: unknown;
}

async function ask(
  { apiUrl, fullName, credential }: PullRequestApi,
  signal: AbortSignal,
  query: string,
  body?: object,
): Promise<ApiReply> {
  const path = fullName.split("/").map(encodeURIComponent).join("/");
  const url = `${apiUrl.replace(/\/+$/, "")}/repos/${path}/pulls${query}`;
  try {
    const response = await fetch(url, {
      method: body ? "POST" : "GET",
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${credential.password}`,
        "user-agent": "muster",
        "x-github-api-version": "2022-11-28",
        ...(body ? { "content-type": "application/json" } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return { status: response.status, json: parse(await readBounded(response)) };
  } catch (error) {
    if (signal.aborted) throw new ToolProblem("It was stopped.");
    const code = (error as { cause?: { code?: unknown } }).cause?.code;
    const why = typeof code === "string" ? ` (${code})` : "";
    throw new ToolProblem(
      `GitHub's API could not be reached${why}. The branch is pushed; try again in a moment, and check for an open pull request first.`,
    );
  }
}

async function readBounded(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > MAX_ANSWER_CHARS) break;
  }
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function problem({ credential }: PullRequestApi, { status, json }: ApiReply, what: string) {
  const { message = "", errors = [] } = problemSchema.safeParse(json).data ?? {};
  const words = [message, ...errors.flatMap((one) => one.message ?? [])].join(" ");
  const said = cleanText(words).replaceAll(/\s+/g, " ").trim().slice(0, MAX_REPLY_CHARS);
  const advice =
    ADVICE[status] ?? (status >= 500 ? "Try again in a moment." : "Change it and try again.");
  return new ToolProblem(
    `${what} failed: GitHub answered ${status}${said ? `, ${said}` : ""}. ${advice.replace("SECRET", credential.secret)}`,
  );
}

const ADVICE: Readonly<Record<number, string>> = {
  301: "The repository has moved. An admin can give it its new name.",
  307: "The repository has moved. An admin can give it its new name.",
  401: "The secret SECRET was not accepted. An admin can set it again.",
  403: "The secret SECRET may not open pull requests here. An admin can give it that right.",
  404: "The secret SECRET cannot see the repository, or may not open pull requests. An admin can check it.",
  429: "Wait a minute before you try again.",
};
