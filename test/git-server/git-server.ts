/**
 * A host of private repositories for tests: git over HTTP with a password, by git's own
 * `http-backend`, and the part of GitHub's API that opens pull requests, on one address.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Pull {
  number: number;
  html_url: string;
  title: string;
  body: string;
  head: string;
  base: string;
  draft: boolean;
}

export interface SeenRequest {
  method: string;
  path: string;
  authorization: string | undefined;
  status: number;
}

export interface GitServer {
  url: string;
  /** Folder of the repositories, by `owner/name.git`. */
  folder: string;
  /** Address of GitHub's API. */
  apiUrl: string;
  requests: SeenRequest[];
  pulls: Pull[];
  /** Redirects requests for the repository to this address, if set. */
  redirectTo: string | null;
  /** Creates a repository with one commit on `main`. */
  create(fullName: string, files?: Record<string, string>): string;
  git(fullName: string, ...args: string[]): string;
  close(): Promise<void>;
}

const ENV = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "first",
  GIT_AUTHOR_EMAIL: "first@example.com",
  GIT_COMMITTER_NAME: "first",
  GIT_COMMITTER_EMAIL: "first@example.com",
};

export async function startGitServer(password: string): Promise<GitServer> {
  const folder = mkdtempSync(join(tmpdir(), "muster-git-server-"));
  const server = createServer((request, response) => {
    void answer(host, password, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const host: GitServer = {
    url,
    folder,
    apiUrl: `${url}/api/v3`,
    requests: [],
    pulls: [],
    redirectTo: null,
    create(fullName, files = { "README.md": "hello\n" }) {
      const at = join(folder, `${fullName}.git`);
      const work = mkdtempSync(join(tmpdir(), "muster-git-work-"));
      const git = (...args: string[]) => execFileSync("git", args, { cwd: work, env: ENV });
      git("init", "-q", "-b", "main");
      for (const [name, text] of Object.entries(files)) writeFileSync(join(work, name), text);
      git("add", "-A");
      git("commit", "-qm", "first");
      git("clone", "-q", "--bare", work, at);
      git("--git-dir", at, "config", "http.receivepack", "true");
      rmSync(work, { recursive: true, force: true });
      return `${url}/${fullName}.git`;
    },
    git: (fullName, ...args) =>
      execFileSync("git", ["--git-dir", join(folder, `${fullName}.git`), ...args], {
        env: ENV,
        encoding: "utf8",
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return host;
}

async function answer(
  host: GitServer,
  password: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { method = "GET", url = "/" } = request;
  const { authorization } = request.headers;
  const seen: SeenRequest = { method, path: url, authorization, status: 0 };
  host.requests.push(seen);
  response.on("finish", () => {
    seen.status = response.statusCode;
  });
  if (host.redirectTo !== null) {
    response.writeHead(302, { location: `${host.redirectTo}${url}` }).end();
    return;
  }
  if (url.startsWith("/api/v3/")) return answerApi(host, password, request, response);
  const basic = Buffer.from(authorization?.replace(/^Basic /, "") ?? "", "base64").toString();
  if (basic.slice(basic.indexOf(":") + 1) !== password) {
    response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end("no");
    return;
  }
  runBackend(host.folder, request, response);
}

function runBackend(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://localhost");
  const child = spawn("git", ["http-backend"], {
    env: {
      ...ENV,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      CONTENT_LENGTH: request.headers["content-length"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      REMOTE_USER: "someone",
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => {});
  request.pipe(child.stdin);
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.on("close", () => {
    const all = Buffer.concat(chunks);
    const end = all.indexOf("\r\n\r\n");
    for (const line of all.subarray(0, end).toString().split("\r\n")) {
      const [name = "", value = ""] = line.split(": ");
      if (name === "Status") response.statusCode = Number(value.slice(0, 3));
      else response.setHeader(name, value);
    }
    response.end(all.subarray(end + 4));
  });
}

interface NewPull {
  title: string;
  body: string;
  head: string;
  base: string;
  draft: boolean;
}

async function answerApi(
  host: GitServer,
  password: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const say = (status: number, body: unknown) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
  if (request.headers.authorization !== `Bearer ${password}`)
    return say(401, { message: "Bad credentials" });
  const url = new URL(request.url ?? "/", host.url);
  const [, owner = "", name] =
    /^\/api\/v3\/repos\/([^/]+)\/([^/]+)\/pulls$/.exec(url.pathname) ?? [];
  if (name === undefined) return say(404, { message: "Not Found" });
  if (request.method === "GET") {
    const fits = ({ head, base }: Pull) =>
      url.searchParams.get("head") === `${owner}:${head}` && url.searchParams.get("base") === base;
    return say(200, host.pulls.filter(fits));
  }
  const body = JSON.parse(await textOf(request)) as NewPull;
  const heads = host.git(
    `${owner}/${name}`,
    "for-each-ref",
    "--format=%(refname:short)",
    "refs/heads",
  );
  const isFit = [body.head, body.base].every((ref) => heads.split("\n").includes(ref));
  if (!isFit || typeof body.title !== "string" || typeof body.draft !== "boolean")
    return say(422, {
      message: "Validation Failed",
      errors: [{ message: "head or base missing" }],
    });
  const number = host.pulls.length + 1;
  const pull = { ...body, number, html_url: `${host.url}/${owner}/${name}/pull/${number}` };
  host.pulls.push(pull);
  say(201, pull);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
