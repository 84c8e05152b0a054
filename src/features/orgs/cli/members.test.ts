import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFakeHost, runCommand } from "#test/cli/fake-host.ts";
import { FakeServer, reply } from "#test/cli/fake-server.ts";

let server: FakeServer;
let home: string;
beforeEach(async () => {
  server = await new FakeServer().start();
  home = mkdtempSync(join(tmpdir(), "muster-login-"));
});
afterEach(async () => {
  await server.stop();
  rmSync(home, { recursive: true });
});

async function run(words: string[], input?: string, env: Record<string, string> = server.env) {
  const host = createFakeHost({ env, ...(input === undefined ? {} : { input }) });
  return { code: await runCommand(host, ...words), out: host.out, err: host.err };
}
const answers = (method: string, path: string, body: unknown, status = 200) =>
  server.answer(method, path, (_seen, response) => reply(response, status, body));
const me = () =>
  answers("GET", "/api/me", { user: { id: "usr_1", role: "admin" }, org: { id: "org_1" } });

const apiKey = {
  id: "crd_1",
  name: "ci\u001b[31m",
  scopes: ["sessions:read"],
  createdAt: "2026-01-01T00:00:00.000Z",
  expiresAt: null,
  lastUsedAt: null,
};

describe("keys", () => {
  it("are listed, made and revoked", async () => {
    answers("GET", "/api/me/api-keys", { items: [apiKey], next: null });
    const listed = await run(["keys", "ls"]);
    expect(listed.code).toBe(0);
    expect(listed.out).toMatch(/crd_1\s+ci.*never\s+never\s+sessions:read/);
    expect(listed.out).not.toContain("\u001b");
    answers("POST", "/api/me/api-keys", { apiKey, key: "mst_key_x" }, 201);
    const words = ["keys", "add", "ci", "--scope", "sessions:read", "--scope", "mail"];
    expect((await run([...words, "--days", "30"])).out).toBe("mst_key_x\n");
    const [made] = server.requests("POST", "/api/me/api-keys");
    expect(made?.body).toMatchObject({ name: "ci", scopes: ["sessions:read", "mail"] });
    expect(Date.parse(String(made?.body.expiresAt))).toBeGreaterThan(Date.now());
    expect((await run(["keys", "add", "ci"])).code).toBe(2);
    expect((await run(["keys", "add", "ci", "--scope", "everything"])).code).toBe(2);
    expect((await run([...words, "--days", "0"])).code).toBe(2);
    answers("DELETE", "/api/me/api-keys/crd_1", { apiKey });
    expect((await run(["keys", "rm", "crd_1"])).code).toBe(0);
    server.refuse("DELETE", "/api/me/api-keys/crd_2", 404, "not_found");
    expect((await run(["keys", "rm", "crd_2"])).code).toBe(6);
  });
});

describe("runner tokens", () => {
  it("are listed and revoked", async () => {
    const token = {
      id: "crd_7",
      name: "lap\u001b[31mtop",
      scope: "org",
      tags: ["gpu"],
      createdAt: "2026-01-01T00:00:00.000Z",
      expiresAt: null,
      lastUsedAt: null,
    };
    answers("GET", "/api/runners/tokens", { items: [token], next: null });
    const listed = await run(["runners", "tokens", "ls"]);
    expect(listed.out).toMatch(/crd_7\s+lap.*top\s+everybody\s.*never\s+never\s+gpu/);
    expect(listed.out).not.toContain("\u001b");
    answers("DELETE", "/api/runner-tokens/crd_7", { token });
    expect(await run(["runners", "tokens", "revoke", "crd_7"])).toMatchObject({
      code: 0,
      out: "crd_7 is revoked.\n",
    });
    server.refuse("DELETE", "/api/runner-tokens/crd_8", 404, "not_found");
    expect((await run(["runners", "tokens", "revoke", "crd_8"])).code).toBe(6);
  });
});

describe("members", () => {
  it("are listed, invited, changed and removed", async () => {
    me();
    const member = {
      userId: "usr_2",
      name: "Ann",
      role: "member",
      email: "ann@example.org",
      joinedAt: "2026-01-01T00:00:00.000Z",
    };
    answers("GET", "/api/orgs/org_1/members", { items: [member], next: null });
    expect((await run(["members", "ls"])).out).toMatch(/usr_2\s+member\s.*ann@example.org\s+Ann/);
    answers("POST", "/api/orgs/org_1/invitations", { link: "http://x/join#token=t" }, 201);
    const invite = ["members", "invite", "--admin", "--email", "b@example.org"];
    expect((await run(invite)).out).toBe("http://x/join#token=t\n");
    expect(server.requests("POST", "/api/orgs/org_1/invitations")[0]?.body).toEqual({
      role: "admin",
      email: "b@example.org",
    });
    expect((await run(["members", "invite", "--user", "usr_9"])).code).toBe(0);
    expect(server.requests("POST", "/api/orgs/org_1/invitations")[1]?.body).toEqual({
      role: "member",
      userId: "usr_9",
    });
    answers("GET", "/api/orgs/org_1/invitations", { items: [], next: null });
    expect((await run(["members", "invitations"])).out).toContain("No pending invitations.");
    answers("PATCH", "/api/orgs/org_1/members/usr_2", { member });
    expect((await run(["members", "role", "usr_2", "admin"])).code).toBe(0);
    expect((await run(["members", "role", "usr_2", "king"])).code).toBe(2);
    server.refuse("DELETE", "/api/orgs/org_1/members/usr_2", 409, "last_admin");
    expect((await run(["members", "rm", "usr_2", "--yes"])).code).toBe(7);
    expect((await run(["members", "rm", "usr_2"])).err).toContain("Nothing was changed");
  });
});

describe("what admins see and do about people", () => {
  const session = {
    id: "ses_1",
    ownerId: "usr_2",
    kind: "task",
    activity: "idle",
    updatedAt: "2026-01-01T00:00:00.000Z",
    openUntil: "2026-01-01T01:00:00.000Z",
  };
  const gone = {
    userId: "usr_3",
    name: "Removed person",
    role: "member",
    email: null,
    joinedAt: "2026-01-01T00:00:00.000Z",
    state: "purging",
  };

  it("lists sessions and opens one, with a reason", async () => {
    me();
    answers("GET", "/api/orgs/org_1/sessions", { items: [session], next: null });
    const listed = await run(["members", "sessions", "--user", "usr_2"]);
    expect(listed.out).toMatch(/ses_1\s+usr_2\s+task\s+idle/);
    answers("POST", "/api/orgs/org_1/sessions/ses_1/open", { session });
    expect((await run(["members", "open", "ses_1"])).code).toBe(2);
    const opened = await run(["members", "open", "ses_1", "--reason", "incident 7"]);
    expect(opened.out).toContain("You can read ses_1 until 2026-01-01T01:00");
    expect(server.requests("POST", "/api/orgs/org_1/sessions/ses_1/open")[0]?.body).toEqual({
      reason: "incident 7",
    });
  });

  it("lists everybody's orchestrator, also those that ended or never began", async () => {
    me();
    const state = {
      id: "orchestrator:usr_2",
      lifecycle: "terminated",
      activity: "idle",
      status: "stopped",
      incarnation: 2,
      model: "acme/small",
      cost: 1_500_000,
      updatedAt: "2026-01-01T00:00:00.000Z",
    };
    const identity = { userId: "usr_2", name: "Ada\u001b[31m", handle: "ada" };
    const nobody = { ...identity, userId: "usr_3", handle: "bob" };
    answers("GET", "/api/orgs/org_1/orchestrators", {
      items: [
        { identity, session: state, needsRestart: true, recovery: null },
        { identity: nobody, session: null, needsRestart: true, recovery: null },
      ],
      next: null,
    });
    const { out } = await run(["members", "orchestrators"]);
    expect(out).toMatch(/usr_2\s+@ada\s+Ada.*terminated\s+acme\/small\s+\$1\.5000/);
    expect(out).toMatch(/usr_3\s+@bob.*never started/);
    expect(out).not.toContain("\u001b");
    answers("GET", "/api/orgs/org_1/orchestrators", { items: [], next: null });
    expect((await run(["members", "orchestrators"])).out).toContain(
      "Nobody has an orchestrator yet.",
    );
    server.refuse("GET", "/api/orgs/org_1/orchestrators", 403, "forbidden");
    expect((await run(["members", "orchestrators"])).code).not.toBe(0);
  });

  it("lists who has left, and purges", async () => {
    me();
    answers("GET", "/api/orgs/org_1/members", { items: [gone], next: null });
    expect((await run(["members", "ls", "--removed"])).out).toMatch(/usr_3\s+purging/);
    answers("POST", "/api/orgs/org_1/members/usr_3/purge", { member: gone }, 202);
    expect((await run(["members", "purge", "usr_3"])).code).toBe(2);
    const purged = await run(["members", "purge", "usr_3", "--confirm", "Ann"]);
    expect(purged.out).toContain("being deleted");
    expect(server.requests("POST", "/api/orgs/org_1/members/usr_3/purge")[0]?.body).toEqual({
      confirm: "Ann",
    });
    server.refuse("POST", "/api/orgs/org_1/members/usr_2/purge", 409, "still_member");
    expect((await run(["members", "purge", "usr_2", "--confirm", "Ann"])).code).toBe(7);
  });
});

describe("login", () => {
  it("makes a key of a password, and keeps it with the other settings", async () => {
    server.answer("POST", "/api/auth/sign-in", (_seen, response) => {
      response.setHeader("Set-Cookie", "muster_1=mst_web_x; Path=/; HttpOnly");
      reply(response, 200, {});
    });
    me();
    answers("POST", "/api/me/api-keys", { apiKey, key: "mst_key_x" }, 201);
    answers("POST", "/api/auth/sign-out", {});
    const file = join(home, "muster.config.json");
    writeFileSync(file, '{"MUSTER_PORT": 4748}');
    // Another user can write to the folder, and has guessed the temporary name of the key.
    chmodSync(home, 0o777);
    const planted = join(tmpdir(), `${basename(home)}-planted`);
    symlinkSync(planted, `${file}.new`);
    const env = { MUSTER_HOME: home, MUSTER_SERVER: server.env.MUSTER_SERVER ?? "" };
    const words = ["login", "--email", "ann@example.org"];
    const { code, out } = await run(words, "hunter2 hunter2\n", env);
    expect(code).toBe(0);
    expect(out).not.toContain("mst_key_x");
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
      MUSTER_PORT: 4748,
      MUSTER_SERVER: env.MUSTER_SERVER,
      MUSTER_API_KEY: "mst_key_x",
    });
    expect(lstatSync(file).isFile()).toBe(true);
    expect(existsSync(planted)).toBe(false);
    expect([statSync(file).mode & 0o777, statSync(home).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(server.requests("POST", "/api/auth/sign-in")[0]?.body).toEqual({
      email: "ann@example.org",
      password: "hunter2 hunter2",
    });
    const [asked] = server.requests("POST", "/api/me/api-keys");
    expect(asked?.headers).toMatchObject({
      cookie: "muster_1=mst_web_x",
      origin: env.MUSTER_SERVER,
    });
    expect(server.requests("POST", "/api/auth/sign-out")).toHaveLength(1);
  });

  it("sends no password over an open network, and none that was not given", async () => {
    const words = ["login", "--email", "a@example.org", "--server"];
    expect((await run([...words, "http://muster.example.org"], "secret\n")).err).toContain(
      "https://",
    );
    expect((await run([...words, server.env.MUSTER_SERVER ?? ""], "\n")).code).toBe(2);
    server.refuse("POST", "/api/auth/sign-in", 401, "sign_in_failed");
    expect((await run([...words, server.env.MUSTER_SERVER ?? ""], "secret\n")).code).toBe(5);
  });

  it("sets the owner's password", async () => {
    answers("PUT", "/api/me/password", { user: { email: "me@example.org" } });
    const { out } = await run(["password", "--email", "me@example.org"], "correct horse battery\n");
    expect(out).toContain("me@example.org can sign in");
    expect(server.requests("PUT", "/api/me/password")[0]?.body).toEqual({
      newPassword: "correct horse battery",
      email: "me@example.org",
    });
  });
});
