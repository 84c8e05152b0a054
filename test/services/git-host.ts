/** Git repositories on this machine for tests, served over HTTP like a git host. */
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface GitHost {
  /** Address of the one repository, as git takes it. */
  url: string;
  origin: string;
  /** Requested paths, in order. */
  asked: string[];
  /** Answers in its place; undefined: it answers itself. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  /** Writes files (null removes), commits all, and returns the commit. */
  commit(files: Record<string, string | Buffer | { link: string } | null>): string;
  git(...args: string[]): string;
  stop(): Promise<void>;
}

export async function startGitHost(): Promise<GitHost> {
  const folder = mkdtempSync(join(tmpdir(), "muster-git-host-"));
  const work = join(folder, "repo.git");
  mkdirSync(work);
  const git = (...args: string[]) =>
    execFileSync(
      "git",
      [
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.com",
        "-c",
        "commit.gpgsign=false",
        ...args,
      ],
      { cwd: work, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] },
    ).trim();
  git("init", "-q", "-b", "main");
  git("config", "uploadpack.allowAnySHA1InWant", "true");
  const host: GitHost = {
    url: "",
    origin: "",
    asked: [],
    answer: undefined,
    git,
    commit(files) {
      for (const [path, content] of Object.entries(files)) put(join(work, path), content);
      git("add", "-A");
      git("commit", "-q", "--allow-empty", "-m", "change");
      return git("rev-parse", "HEAD");
    },
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const server = createServer((request, response) => {
    host.asked.push(request.url ?? "");
    if (host.answer) host.answer(request, response);
    else backend(folder, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  host.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  host.url = `${host.origin}/repo.git`;
  return host;
}

function put(path: string, content: string | Buffer | { link: string } | null): void {
  rmSync(path, { force: true });
  if (content === null) return;
  mkdirSync(dirname(path), { recursive: true });
  if (typeof content === "object" && "link" in content) symlinkSync(content.link, path);
  else writeFileSync(path, content);
}

/** Runs git's own `http-backend` as CGI. */
function backend(folder: string, request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? "/", "http://localhost");
  const child = spawn("git", ["http-backend"], {
    env: {
      ...process.env,
      GIT_PROJECT_ROOT: folder,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? "GET",
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: String(request.headers["content-encoding"] ?? ""),
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    },
  });
  request.pipe(child.stdin);
  child.stdin.on("error", () => {});
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.on("close", () => {
    const said = Buffer.concat(chunks);
    const end = said.indexOf("\r\n\r\n");
    const head = said.toString("latin1", 0, end).split("\r\n");
    const headers = head.map((line) => line.split(/: /) as [string, string]);
    const status = headers.find(([name]) => name === "Status")?.[1] ?? "200";
    for (const [name, value] of headers) if (name !== "Status") response.setHeader(name, value);
    response.statusCode = Number.parseInt(status, 10);
    response.end(said.subarray(end + 4));
  });
}
