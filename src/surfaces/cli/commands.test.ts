import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeHost, type FakeHostOptions, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

let server: FakeServer;
beforeEach(async () => {
  server = await new FakeServer().start();
});
afterEach(() => server.stop());

async function run(words: string[], options: FakeHostOptions = {}) {
  const host = createFakeHost({ env: server.env, ...options });
  const code = await runCommand(host, ...words);
  return { code, out: host.out, err: host.err, host };
}

describe("sessions", () => {
  it("lists every page, without what is over unless all are wanted", async () => {
    const session = server.session();
    const over = { ...session, id: "ses_9", title: "Old\u001b[31m", lifecycle: "archived" };
    server.answer("GET", "/api/sessions", ({ query }, response) => {
      if (query.lifecycle !== undefined) expect(query.lifecycle).toBe("active,hibernated");
      const isFirst = query.cursor === undefined;
      if (isFirst) reply(response, 200, { items: [session], next: "c" });
      else reply(response, 200, { items: query.lifecycle ? [] : [over], next: null });
    });
    const open = await run(["sessions", "ls"]);
    expect(open.code).toBe(0);
    expect(open.out.split("\n")).toHaveLength(3);
    expect(open.out).toContain("ses_1  idle");
    const all = await run(["sessions", "ls", "--all"]);
    expect(all.out).toContain("ses_9  archived");
    expect(all.out).not.toContain("\u001b");
    const json = JSON.parse((await run(["--json", "sessions", "ls", "--all"])).out);
    expect(json).toMatchObject({ items: [{ id: "ses_1" }, { id: "ses_9" }], next: null });
  });

  it("finds nothing by an empty id, and asks the server for nothing", async () => {
    const { code, err } = await run(["approvals", "show", ""]);
    expect(code).toBe(6);
    expect(err).toContain("[not_found]");
    expect(server.requests("GET", "/api/approvals")).toEqual([]);
  });

  it("changes what a session may spend and whether it remembers", async () => {
    const session = { ...server.session(), budget: 2_500_000, cost: 1_000_000, enableMemory: true };
    server.answer("PATCH", "/api/sessions/ses_1", (_seen, response) =>
      reply(response, 200, { session }),
    );
    const set = (...words: string[]) => run(["sessions", "set", "ses_1", ...words]);
    expect((await set("--budget", "2.50", "--memory", "on")).out).toContain("$2.50, $1.00 spent");
    expect((await set("--budget", "none")).code).toBe(0);
    expect(server.requests("PATCH", "/api/sessions/ses_1").map(({ body }) => body)).toEqual([
      { budget: 2_500_000, enableMemory: true },
      { budget: null },
    ]);
    for (const amount of ["much", "-1", ""])
      expect((await set("--budget", amount)).code).not.toBe(0);
  });

  it("shows a session with its last entries and its queue", async () => {
    const entry = {
      id: "ent_1",
      kind: "text",
      text: "line one\nline two",
      tool: null,
      author: null,
    };
    const waiting = {
      ...server.newPrompt("later", null),
      waitingFor: { reason: "session_busy", message: "Busy.", ahead: 0 },
    };
    server.answer("GET", "/api/sessions/ses_1/transcript", (_seen, response) =>
      reply(response, 200, { items: [entry], next: null }),
    );
    server.answer("GET", "/api/sessions/ses_1/prompts", (_seen, response) =>
      reply(response, 200, { items: [waiting], next: null }),
    );
    const { code, out } = await run(["sessions", "show", "ses_1"]);
    expect(code).toBe(0);
    expect(out).toContain("title       A session");
    expect(out).toContain("[text] line one\n  line two");
    expect(out).toContain("pmt_1  later (Busy.)");
    const json = JSON.parse((await run(["sessions", "show", "ses_1", "--json"])).out);
    expect(Object.keys(json)).toEqual(["session", "entries", "queue"]);
  });

  it("shows where a session works and as whom", async () => {
    const place = { repo: "https://git.test/acme/api.git", branch: "fix/\u001b[31mlogin" };
    const session = { ...server.session(), ...place, persona: "frontend" };
    server.answer("GET", "/api/sessions/ses_1", (_seen, response) =>
      reply(response, 200, { session }),
    );
    server.answer("GET", "/api/sessions/ses_1/transcript", (_seen, response) =>
      reply(response, 200, { items: [], next: null }),
    );
    server.answer("GET", "/api/sessions/ses_1/prompts", (_seen, response) =>
      reply(response, 200, { items: [], next: null }),
    );
    const { out } = await run(["sessions", "show", "ses_1"]);
    expect(out).toContain("repository  https://git.test/acme/api.git\n");
    expect(out).toMatch(/^branch {6}fix\/.*login$/m);
    expect(out).not.toContain("\u001b");
    expect(out).toContain("persona     frontend\n");
  });

  it("stops a turn", async () => {
    server.answer("GET", "/api/sessions", (_seen, response) =>
      reply(response, 200, { items: [], next: null }),
    );
    const items: { id: string }[] = [{ id: "pmt_7" }];
    server.answer("GET", "/api/sessions/ses_1/prompts", (_seen, response) =>
      reply(response, 200, { items, next: null }),
    );
    expect(await run(["sessions", "stop", "ses_1"])).toMatchObject({
      code: 0,
      out: expect.stringContaining("is being stopped"),
    });
    const asked = server.requests("POST", "/api/sessions/ses_1/stop");
    expect(asked.map(({ body }) => body)).toEqual([{ promptId: "pmt_7" }]);
    items.pop();
    expect((await run(["sessions", "stop", "ses_1"])).out).toContain("none was running");
  });

  it("asks before it removes, where there is somebody to ask", async () => {
    const path = "/api/sessions/ses_1";
    server.answer("DELETE", path, (_seen, response) =>
      reply(response, 200, { session: server.session() }),
    );
    expect((await run(["sessions", "rm", "ses_1"], { typed: "\n" })).code).toBe(1);
    expect(server.requests("DELETE", path)).toHaveLength(0);
    expect((await run(["sessions", "rm", "ses_1"], { typed: "y\n" })).code).toBe(0);
    expect((await run(["sessions", "rm", "ses_1", "--yes", "--force"])).code).toBe(0);
    expect((await run(["sessions", "rm", "ses_1"], { input: "" })).code).toBe(0);
    expect(server.requests("DELETE", path).map((seen) => seen.query.force)).toEqual([
      undefined,
      "true",
      undefined,
    ]);
  });

  it("removes what an entry says, after a question", async () => {
    const path = "/api/sessions/ses_1/entries/ent_1/redact";
    server.answer("POST", path, (_seen, response) =>
      reply(response, 200, { redacted: ["ent_1", "ent_2"] }),
    );
    const command = ["sessions", "redact", "ses_1", "ent_1"];
    expect((await run(command, { typed: "\n" })).code).toBe(1);
    expect(server.requests("POST", path)).toHaveLength(0);
    const { code, out } = await run([...command, "--yes"]);
    expect([code, out]).toEqual([0, "Removed: ent_1, ent_2.\n"]);
  });

  it("removes what a prompt says that never started", async () => {
    server.answer("POST", "/api/prompts/pmt_1/redact", (_seen, response) =>
      reply(response, 200, { redacted: ["pmt_1"] }),
    );
    const { code, out } = await run(["sessions", "redact", "ses_1", "pmt_1", "--yes"]);
    expect([code, out]).toEqual([0, "Removed: pmt_1.\n"]);
  });
});

describe("sign-in and runners", () => {
  it("prints a sign-in link alone on standard output", async () => {
    const link = "http://127.0.0.1:4747/sign-in#x";
    server.answer("POST", "/api/auth/links", (_seen, response) =>
      reply(response, 201, { link, expiresAt: new Date().toISOString() }),
    );
    expect((await run(["login-link"])).out).toBe(`${link}\n`);
  });

  it("makes a token and says how to start the runner", async () => {
    server.answer("POST", "/api/runners/tokens", (_seen, response) =>
      reply(response, 201, { token: "mst_abc" }),
    );
    const { code, out } = await run(["runners", "token", "--tag", "gpu", "--tag", "big", "box"]);
    expect(code).toBe(0);
    expect(out).toContain(
      `MUSTER_SERVER=${server.env.MUSTER_SERVER} MUSTER_TOKEN=mst_abc npx muster runner`,
    );
    expect(server.requests("POST", "/api/runners/tokens")[0]?.body).toEqual({
      name: "box",
      tags: ["gpu", "big"],
    });
  });

  it("lists and removes runners", async () => {
    const runner = {
      id: "rnr_1",
      name: "box",
      state: "online",
      running: 1,
      capacity: 4,
      hostname: "h",
      sandbox: { kind: "bubblewrap", why: null, fix: null, enforced: {}, at: null },
      lastSeenAt: null,
      runtimes: ["echo"],
      tags: [],
    };
    server.answer("GET", "/api/runners", (_seen, response) =>
      reply(response, 200, { items: [runner], next: null }),
    );
    server.answer("DELETE", "/api/runners/rnr_1", (_seen, response) =>
      response.writeHead(204).end(),
    );
    expect((await run(["runners", "ls"])).out).toMatch(
      /rnr_1 +box +online +1\/4 +h +bubblewrap +never +echo +–/,
    );
    expect((await run(["runners", "rm", "rnr_1", "--json"])).out).toBe("{}\n");
  });
});

describe("how commands end", () => {
  it.each([
    [400, "invalid_request", 4],
    [401, "unauthenticated", 5],
    [403, "forbidden", 5],
    [404, "not_found", 6],
    [409, "session_busy", 7],
    [429, "session_limit_reached", 4],
    [503, "store_unavailable", 3],
    [500, "internal", 1],
  ])("%i %s is exit code %i, with code and message", async (status, code, expected) => {
    server.refuse("GET", "/api/sessions", status, code);
    const result = await run(["sessions", "ls"]);
    expect(result.code).toBe(expected);
    expect(result.err).toBe(`error: Said ${code}. [${code}]\n`);
    expect(JSON.parse((await run(["sessions", "ls", "--json"])).err)).toEqual({
      error: { code, message: `Said ${code}.` },
    });
  });

  it("says how to start a server that is not there", async () => {
    const gone = await new FakeServer().start();
    const { env } = gone;
    await gone.stop();
    const { code, err } = await run(["run", "x"], { env });
    expect(code).toBe(3);
    expect(err).toContain("npm start");
    expect(err).toContain("ECONNREFUSED");
    expect(err).not.toMatch(/\n +at /);
  });

  it("shows where in the code only when debugging", async () => {
    const env = { ...server.env, MUSTER_LOG_LEVEL: "debug" };
    expect((await run(["sessions", "ls", "--server", "http://127.0.0.1:9"], { env })).err).toMatch(
      /\n +at /,
    );
  });

  it.each([
    [["nonsense"]],
    [["run", "--nonsense"]],
    [["run", "--mode", "shout", "x"]],
    [["sessions"]],
    [["sessions", "show"]],
    [[]],
    [["run", "x", "--server", "ftp://x"]],
    [["run", "x", "--session", "ses_1", "--title", "t"]],
  ])("%j is wrong usage", async (words) => {
    expect((await run(words)).code).toBe(2);
  });

  it("prints help with the exit codes, and the version", async () => {
    const help = await run(["--help"]);
    expect(help.code).toBe(0);
    expect(help.out).toContain("3    the server cannot be reached");
    expect((await run(["run", "--help"])).out).toContain("--json");
    expect((await run(["--version"])).out).toBe("1.2.3\n");
  });
});

describe("the key", () => {
  it("is the owner's, but only for servers that the settings name", async () => {
    const home = mkdtempSync(join(tmpdir(), "muster-cli-"));
    server.answer("GET", "/api/sessions", (_seen, response) =>
      reply(response, 200, { items: [], next: null }),
    );
    const env = { MUSTER_HOME: home, MUSTER_PORT: String(server.port) };
    expect((await run(["sessions", "ls"], { env })).code).toBe(5);
    writeFileSync(join(home, "owner.key"), "mst_owner\n", { mode: 0o600 });
    expect((await run(["sessions", "ls"], { env })).code).toBe(0);
    expect(server.seen.at(-1)?.headers.authorization).toBe("Bearer mst_owner");
    const elsewhere = await run(["sessions", "ls", "--server", "https://192.0.2.1"], { env });
    expect(elsewhere.code).toBe(5);
    expect(elsewhere.err).toContain("MUSTER_API_KEY");
    const open = await run(["sessions", "ls", "--server", "http://192.0.2.1"], { env });
    expect(open.code).toBe(2);
    expect(open.err).toContain("MUSTER_INSECURE_HTTP");
    rmSync(home, { recursive: true });
  });
});

describe("up, server and runner", () => {
  it("become settings for the program that the host starts", async () => {
    const up = await run(["up", "--port", "5000"], { env: { MUSTER_HOME: "/h" } });
    expect(up.host.started).toEqual([
      { program: "up", options: { env: { MUSTER_HOME: "/h", MUSTER_PORT: "5000" }, tags: [] } },
    ]);
    expect(up.code).toBeUndefined();
    const runner = await run(["runner", "--server", "http://s", "--tag", "a", "--name", "n"], {
      env: {},
    });
    expect(runner.host.started[0]?.options).toEqual({
      env: { MUSTER_SERVER: "http://s" },
      name: "n",
      tags: ["a"],
    });
  });
});
