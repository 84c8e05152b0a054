import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

const START_LIMIT_MS = 60_000;
const program = join(import.meta.dirname, "../../../dist/muster.js");

/** The built program, in processes of its own. */
describe("the built program", { timeout: START_LIMIT_MS }, () => {
  const home = mkdtempSync(join(tmpdir(), "muster-built-"));
  let port: number;
  let child: ChildProcess;
  let key: string;
  const url = (path: string) => `http://127.0.0.1:${port}${path}`;
  const env = () => ({
    ...process.env,
    MUSTER_HOME: home,
    MUSTER_PORT: String(port),
    MUSTER_LOG_LEVEL: "error",
    MUSTER_TEST_CRASH: "true",
    NO_COLOR: "1",
  });

  beforeAll(async () => {
    port = await freePort();
    await start();
    key = readFileSync(join(home, "owner.key"), "utf8").trim();
  }, START_LIMIT_MS);
  afterAll(async () => {
    await end("SIGTERM");
    rmSync(home, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    child = spawn(process.execPath, [program, "up"], { env: env(), stdio: "ignore" });
    // A program that is read from a cold disk may start slowly; the start time is not under test.
    await vi.waitUntil(isReady, { timeout: START_LIMIT_MS, interval: 20 });
  }

  async function isReady(): Promise<boolean> {
    return fetch(url("/ready")).then(
      (answer) => answer.ok,
      () => false,
    );
  }

  function end(signal: NodeJS.Signals): Promise<unknown> {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    return ended;
  }

  const get = (path: string) => fetch(url(path), { headers: { authorization: `Bearer ${key}` } });
  const post = async (path: string, body: unknown) => {
    const answer = await fetch(url(path), {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { session: { id: string }; prompt: { id: string } };
  };

  it("keeps its secret files private", () => {
    for (const file of ["owner.key", "runner.token", "muster.db"]) {
      expect(statSync(join(home, file)).mode & 0o077).toBe(0);
    }
  });

  it("serves metrics, the API document and its page, and the web page", async () => {
    expect(await (await get("/metrics")).text()).toContain("muster_runs_ready");
    expect(await (await get("/api/openapi.json")).json()).toMatchObject({ openapi: "3.1.0" });
    expect(await (await get("/api/docs")).text()).toContain("swagger-ui");
    expect((await get("/api/docs/swagger-ui-bundle.js")).status).toBe(200);
    expect((await get("/favicon.ico")).headers.get("content-type")).toBe("image/svg+xml");
    expect(await (await fetch(url("/"))).text()).toContain('<div id="root">');
  });

  it("continues a turn after every process was killed in the middle of it", async () => {
    const { session } = await post("/api/sessions", { runtime: "scripted" });
    const script = "say one\nsay two\nsleep 1200\nsay three";
    const { prompt } = await post(`/api/sessions/${session.id}/prompts`, { content: script });
    const transcript = async () => {
      const page = (await (await get(`/api/sessions/${session.id}/transcript`)).json()) as {
        items: { kind: string; text: string }[];
      };
      return page.items.filter((entry) => entry.kind === "text").map((entry) => entry.text);
    };
    await expect.poll(transcript, { timeout: START_LIMIT_MS }).toEqual(["one", "two"]);
    await end("SIGKILL");
    await start();
    const receipt = async () =>
      ((await (await get(`/api/prompts/${prompt.id}`)).json()) as { prompt: { outcome: string } })
        .prompt;
    await expect.poll(async () => (await receipt()).outcome).toBe("completed");
    expect(await transcript()).toEqual(["one", "two", "three"]);
  }, 60_000);

  it("gives up on a prompt that kills its runner every time, and keeps serving", async () => {
    const { session } = await post("/api/sessions", { runtime: "scripted" });
    const { prompt } = await post(`/api/sessions/${session.id}/prompts`, {
      content: "say hi\ncrash",
    });
    const receipt = async () =>
      (
        (await (await get(`/api/prompts/${prompt.id}`)).json()) as {
          prompt: Record<string, unknown>;
        }
      ).prompt;
    await expect
      .poll(receipt, { timeout: START_LIMIT_MS })
      .toMatchObject({ outcome: "failed", attempts: 3, error: { code: "attempts_exhausted" } });
    expect(await isReady()).toBe(true);
  }, 60_000);

  it("answers on the command line", async () => {
    const { stdout, code } = await run("run", "--runtime", "echo", "hello from the terminal");
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("hello from the terminal"),
    });
    const listed = await run("sessions", "ls", "--json");
    expect(JSON.parse(listed.stdout)).toBeDefined();
    expect((await run("sessions", "show", "ses_nope")).code).toBe(6);
    expect((await run("nonsense")).code).toBe(2);
  }, 60_000);

  it("refuses a second server on the same data with a clear message", async () => {
    const { stderr, code } = await run("server", "--port", String(await freePort()));
    expect(stderr).toContain("Another Muster server is using");
    expect(code).toBe(7);
  });

  function run(
    ...args: string[]
  ): Promise<{ stdout: string; stderr: string; code: number | null }> {
    return new Promise((resolve) => {
      const command = spawn(process.execPath, [program, ...args], { env: env() });
      const out = { stdout: "", stderr: "" };
      command.stdout.on("data", (data) => {
        out.stdout += String(data);
      });
      command.stderr.on("data", (data) => {
        out.stderr += String(data);
      });
      command.on("close", (code) => resolve({ ...out, code }));
    });
  }
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
