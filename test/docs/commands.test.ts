import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { PASSWORD } from "#test/clients/people.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import { commandBlocks, scriptOf } from "./command-blocks.ts";

const ROOT = join(import.meta.dirname, "../..");
const GUIDES = "docs/guide";
const documents = [
  "README.md",
  ...readdirSync(join(ROOT, GUIDES)).map((name) => `${GUIDES}/${name}`),
].map((name) => {
  const text = readFileSync(join(ROOT, name), "utf8");
  return { name, text, blocks: commandBlocks(text) };
});
/** A limit for hangs; a document takes some seconds. */
const SCRIPT_LIMIT_MS = 180_000;
const LIMIT = { timeout: 300_000 };

/** Programs that the examples use besides ours. */
const hasTools = ["bash", "curl", "git", "jq", "timeout"].every((name) =>
  (process.env.PATH ?? "").split(":").some((folder) => existsSync(join(folder, name))),
);

/** The commands in our documents work literally on a machine that never had Muster. */
describe.skipIf(!bubblewrapFile || !hasTools)("commands in the documents", LIMIT, () => {
  let home: string;
  let server: ChildProcess | undefined;
  let model: ModelServer;

  beforeAll(async () => {
    model = await startModelServer();
  });
  afterAll(() => model.close());
  afterEach(async () => {
    const ended = new Promise((resolve) => server?.once("exit", resolve));
    if (server?.kill("SIGTERM")) await ended;
    rmSync(home, { recursive: true, force: true });
  });

  it.each(documents.filter(({ blocks }) => blocks.some(({ notRun }) => notRun === null)))(
    "$name",
    async ({ text, blocks }) => {
      home = mkdtempSync(join(tmpdir(), "muster-docs-"));
      const port = await freePort();
      const env = environment(home, port);
      layOut(home);
      server = spawn(process.execPath, [join(ROOT, "dist/muster.js"), "up"], {
        env,
        stdio: "ignore",
      });
      await vi.waitUntil(() => isReady(port), { timeout: 60_000, interval: 50 });
      const api = apiOf(port, home);
      const hasRunner = async () => (await api<{ items: [] }>("/api/models")).items.length > 0;
      await vi.waitUntil(hasRunner, { timeout: 60_000, interval: 50 });
      await invite(api);
      if (text.includes('"Page: otters"')) await beginFamily(api);
      const script = scriptOf(
        blocks.filter(({ notRun }) => notRun === null),
        { "127.0.0.1:4747": `127.0.0.1:${port}`, "127.0.0.1:8000": new URL(model.url).host },
      );
      const { code, output } = await bash(script, join(home, "work"), env);
      expect(output).not.toMatch(/Warning:|Unsupported engine|Error: /);
      expect(output).not.toContain("I cannot do that");
      expect({ code, output: code === 0 ? "" : output.slice(-3_000) }).toEqual({
        code: 0,
        output: "",
      });
    },
  );
});

it("gives a reason for each skipped block, and skips few", () => {
  const all = documents.flatMap(({ blocks }) => blocks);
  const left = all.filter(({ notRun }) => notRun !== null);
  expect(all.length).toBeGreaterThan(40);
  expect(left.length).toBeLessThan(all.length / 2);
});

/** Programs as a reader has them: this checkout's, under both of its names. */
function environment(folder: string, port: number): NodeJS.ProcessEnv {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  const muster = `"${process.execPath}" "${join(ROOT, "dist/muster.js")}" "$@"`;
  program(bin, "npx", '[ "$1" = muster ] || exit 64\nshift\nexec muster "$@"');
  program(
    bin,
    "muster",
    `case " $* " in
  *" --watch "*) timeout --signal=INT 3 ${muster} || [ $? = 124 ] || [ $? = 130 ]; exit ;;
esac
# A reader types where nothing is piped in.
if ! [ -p /dev/stdin ] && ! [ -f /dev/stdin ]; then case " $* " in
  " password "*|" secrets set "*) echo "${PASSWORD}" | ${muster}; exit ;;
  " runners allow-unsandboxed "*|" sessions end "*) ${muster} --yes; exit ;;
  " chat "*) echo "What can you do?" | ${muster}; exit ;;
esac; fi
exec ${muster}`,
  );
  program(
    bin,
    "stand-in",
    `exec "${process.execPath}" "${join(import.meta.dirname, "stand-in.ts")}" "$@"`,
  );
  const { PATH, LANG } = process.env;
  return {
    PATH: `${bin}:${PATH}`,
    LANG,
    HOME: folder,
    MUSTER_PORT: String(port),
    MUSTER_LOG_LEVEL: "error",
    GIT_CONFIG_NOSYSTEM: "1",
  };
}

function program(folder: string, name: string, text: string): void {
  writeFileSync(join(folder, name), `#!/bin/bash\n${text}\n`);
  chmodSync(join(folder, name), 0o755);
}

/** The reader's files in the examples. */
function layOut(folder: string): void {
  const work = join(folder, "work");
  const files = {
    "key.txt": "sk-house-0123456789",
    "lines.txt": "What can you do?\n",
    "careful/SOUL.md": "You check everything twice.\n",
    "skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Reads PDF files.\n---\nUse pdftotext.\n",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(work, name, ".."), { recursive: true });
    writeFileSync(join(work, name), text);
  }
  mkdirSync(join(folder, "backups"));
  const git = (...words: string[]) => execFileSync("git", ["-C", work, ...words]);
  git("init", "--quiet");
  git(
    "-c",
    "user.name=You",
    "-c",
    "user.email=you@example.org",
    "commit",
    "--quiet",
    "--allow-empty",
    "-m",
    "Begin",
  );
}

/** Sends a POST with a body, and a GET without. */
type Api = <T>(path: string, body?: object, isStranger?: boolean) => Promise<T>;

function apiOf(port: number, folder: string): Api {
  const origin = `http://127.0.0.1:${port}`;
  const key = readFileSync(join(folder, ".muster/owner.key"), "utf8").trim();
  return async (path, body, isStranger = false) => {
    const answer = await fetch(origin + path, {
      method: body ? "POST" : "GET",
      headers: {
        "content-type": "application/json",
        ...(isStranger ? { origin } : { authorization: `Bearer ${key}` }),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as never;
  };
}

/** Invites another member, as a recipient. */
async function invite(api: Api): Promise<void> {
  const { org } = await api<{ org: { id: string } }>("/api/me");
  const path = `/api/orgs/${org.id}/invitations`;
  const { link } = await api<{ link: string }>(path, { role: "member" });
  const sarah = { name: "sarah", email: "sarah@example.org", password: PASSWORD };
  await api(`/api/invitations/${link.split("token=")[1]}/accept`, sarah, true);
}

/** Starts children of the orchestrator, as the pictures show them. */
async function beginFamily(api: Api): Promise<void> {
  const { session } = await api<{ session: { id: string } }>("/api/me/orchestrator", {});
  for (const title of ["Research: otters", "Page: otters", "Review: otters"])
    await api("/api/sessions", { title, parentSessionId: session.id, runtime: "echo" });
}

async function isReady(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}

/** Without standard input: there is no terminal here. */
function bash(script: string, cwd: string, env: NodeJS.ProcessEnv) {
  return new Promise<{ code: number | null; output: string }>((resolve) => {
    const child = spawn("bash", ["-c", script], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    // Kills its children too: they would keep its pipes open.
    const limit = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), SCRIPT_LIMIT_MS);
    let output = "";
    const take = (piece: Buffer) => {
      output += piece.toString("utf8");
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("close", (code) => {
      clearTimeout(limit);
      resolve({ code, output });
    });
  });
}
