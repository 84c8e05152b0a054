/**
 * A machine without a sandbox, on each database: turns wait, and a person may consent and withdraw
 * the consent.
 */
import { globSync, rmSync, symlinkSync } from "node:fs";
import { join as joinPath } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Runner } from "#protocol/runs.ts";
import type { Prompt } from "#protocol/sessions.ts";
import { type Browser, join, type KeyScope } from "#test/clients/people.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { makePathWithoutSandbox } from "#test/path-without-sandbox.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { bubblewrapFile } from "#test/services/bubblewrap.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const PATIENT = { timeout: 30_000 };
const LIMIT_MS = 60_000;

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, { timeout: LIMIT_MS }, () => {
    let platform: Platform;
    let model: ModelServer;
    let path: string;
    let member: Browser;

    beforeAll(async () => {
      model = await startModelServer();
      path = makePathWithoutSandbox();
      platform = await startPlatform({
        database,
        env: {
          PATH: path,
          MUSTER_MODEL: "anthropic/claude-test",
          ANTHROPIC_API_KEY: "test-key",
          ANTHROPIC_BASE_URL: model.url,
        },
      });
      member = await join(platform, "Ann");
    });
    afterAll(async () => {
      await platform.stop();
      await model.close();
      rmSync(path, { recursive: true, force: true });
    });

    const machine = async () => (await platform.api.runners.list()).items[0] as Runner;
    const consent = async (headers?: Record<string, string>) =>
      platform.request<{ error?: { code: string } }>(
        "POST",
        `/api/runners/${(await machine()).id}/unsandboxed`,
        {},
        headers,
      );
    const revoke = async () =>
      platform.request("DELETE", `/api/runners/${(await machine()).id}/unsandboxed`);
    const begin = async (script: string) => {
      const session = await platform.createSession({ runtime: "native" });
      return platform.prompt(session.id, script);
    };
    const now = async ({ id }: Prompt) => (await platform.api.prompts.get({ id })).prompt;
    const waits = (prompt: Prompt) =>
      expect
        .poll(async () => (await now(prompt)).waitingFor, PATIENT)
        .toMatchObject({
          reason: "paused",
          message: expect.stringContaining("Bubblewrap is not installed"),
          until: null,
        });
    const approve = async ({ sessionId }: Prompt) => {
      const { approvals } = platform.api;
      const query = { state: "pending", session: sessionId } as const;
      const pending = async () => (await approvals.list({ query })).items[0];
      await expect.poll(pending, PATIENT).toBeDefined();
      const asked = await pending();
      await approvals.decide({ id: asked?.id ?? "", body: { decision: "allow" } });
      return asked;
    };
    const results = async ({ sessionId }: Prompt) =>
      (await platform.events(sessionId)).filter(({ type }) => type === "post_tool");
    const kind = async () => (await machine()).sandbox?.kind;

    it("holds a turn that needs a sandbox, says why, and still answers without tools", async () => {
      const work = await begin('CALL bash {"command": "echo never"}\nSAY done');
      await waits(work);
      expect(await results(work)).toEqual([]);
      // Nobody is asked about a command that could not run.
      expect((await platform.api.approvals.list()).items).toEqual([]);
      const talk = await begin("SAY hello");
      expect(await platform.promptIn(talk.id, "settled")).toMatchObject({ outcome: "completed" });
      expect(await machine()).toMatchObject({
        sandbox: { kind: "bubblewrap", why: expect.stringContaining("not installed"), fix: "apt" },
        unsandboxed: null,
      });
      await platform.api.sessions.stop({ id: work.sessionId });
      expect(await platform.promptIn(work.id, "settled")).toMatchObject({ outcome: "aborted" });
    });

    it("consent is given by a signed-in person with the right, and by nobody else", async () => {
      const keyOf = async (scopes: KeyScope[], { api }: Pick<Browser, "api"> = platform) => {
        const { key } = await api.me.createApiKey({ body: { name: scopes.join(" "), scopes } });
        return { authorization: `Bearer ${key}` };
      };
      const narrow = await consent(await keyOf(["sessions:read", "sessions:write"]));
      expect(narrow.status).toBe(403);
      const admin = await consent(await keyOf(["account", "admin", "sessions:write"]));
      expect(admin.status).toBe(403);
      const { id } = await machine();
      const path = `/api/runners/${id}/unsandboxed`;
      expect((await member.request("POST", path, {})).status).toBe(404);
      expect((await machine()).unsandboxed).toBeNull();
    });

    it("asks about each command after consent, and runs it once", async () => {
      const work = await begin('CALL bash {"command": "echo once >> log; wc -l < log"}\nSAY done');
      await waits(work);
      expect((await consent()).status).toBe(200);
      const asked = await approve(work);
      expect(asked?.shown).toMatchObject({ reason: expect.stringContaining("no sandbox") });
      expect(await platform.promptIn(work.id, "settled")).toMatchObject({ outcome: "completed" });
      const [result, ...others] = await results(work);
      expect(others).toEqual([]);
      expect(result?.toolOutput).toContain("1");
      expect(await machine()).toMatchObject({
        sandbox: { kind: "local", why: null },
        unsandboxed: { by: expect.stringMatching(/^user:/) },
      });
    });

    it("consent survives a restart of the runner", async () => {
      await platform.restartRunner();
      await expect.poll(kind, PATIENT).toBe("local");
    });

    it("withdrawing consent stops running commands and starts none", async () => {
      const work = await begin(
        'CALL bash {"command": "echo began > began; sleep 600"}\nCALL bash {"command": "echo after"}\nSAY done',
      );
      await approve(work);
      const began = () => globSync("**/began", { cwd: platform.config.home });
      await expect.poll(began, PATIENT).toHaveLength(1);
      expect((await revoke()).status).toBe(200);
      await expect.poll(async () => (await results(work)).length, PATIENT).toBe(1);
      expect((await results(work))[0]?.toolOutput ?? "").not.toContain("after");
      await waits(work);
      expect(await machine()).toMatchObject({
        sandbox: { kind: "bubblewrap", why: expect.stringContaining("not installed") },
        unsandboxed: null,
      });
      await platform.api.sessions.stop({ id: work.sessionId });
    });

    it("consent is recorded in the audit trail", async () => {
      const text = JSON.stringify(await platform.api.audit.list({ query: { limit: 200 } }));
      expect(text).toContain("unsandboxed_allowed");
      expect(text).toContain("unsandboxed_revoked");
    });

    it.skipIf(!bubblewrapFile)("needs no restart when a sandbox is installed", async () => {
      const work = await begin('CALL bash {"command": "echo in; hostname"}\nSAY done');
      await waits(work);
      symlinkSync(bubblewrapFile as string, joinPath(path, "bwrap"));
      const { id } = await machine();
      await platform.api.runners.lookForSandbox({ id });
      await expect.poll(async () => (await machine()).sandbox?.why, PATIENT).toBeNull();
      await approve(work);
      expect(await platform.promptIn(work.id, "settled")).toMatchObject({ outcome: "completed" });
      expect((await results(work))[0]?.toolOutput).toContain("sandbox");
      // With a sandbox nobody is asked, and a consent changes nothing.
      await consent();
      const next = await begin('CALL bash {"command": "hostname"}\nSAY done');
      expect(await platform.promptIn(next.id, "settled")).toMatchObject({ outcome: "completed" });
      expect((await results(next))[0]?.toolOutput).toContain("sandbox");
      expect(await kind()).toBe("bubblewrap");
    });
  });
}

story("on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("on PostgreSQL", createTestDatabase);
});
