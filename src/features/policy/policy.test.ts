import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asks, member, owner, startWorld, stranger, type World } from "#features/testing/index.ts";
import type { JournalItem } from "#protocol/events.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { Rule } from "./contract.ts";
import { policy } from "./index.ts";

const RULES = "/api/policy/rules";

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      world = await startWorld([policy], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const add = async (fields: Record<string, unknown>, who = owner) =>
      (await world.call<{ rule: Rule }>(who, "POST", RULES, fields)).rule;
    const remove = (id: string, who = owner) => world.call(who, "DELETE", `${RULES}/${id}`);
    const list = async (who = owner) =>
      (await world.call<{ items: Rule[] }>(who, "GET", "/api/policy")).items;
    const preview = (body: unknown, who = owner) =>
      world.call<{
        effect: string;
        reason: string;
        rule: Rule;
        opaque: boolean;
        commands: string[];
      }>(who, "POST", "/api/policy/preview", body);

    /** Returns the kernel's verdict on a command of a session. */
    async function judged(sessionId: string, command: string, who = owner) {
      const turn = await world.startTurn(sessionId, "go", who);
      const verdicts = await turn.journal([asks("c1", "bash", { command })]);
      await turn.journal([], { settle: { outcome: "completed" } });
      return verdicts.c1;
    }

    it("has a say in calls, by the session's own rules", async () => {
      const session = await world.createSession();
      const other = await world.createSession();
      expect(await judged(session, "ls")).toMatchObject({ verdict: "allow", reason: null });
      expect(await judged(session, "git push")).toMatchObject({
        verdict: "ask",
        reason: expect.stringContaining("builtin:git-push"),
      });
      const rule = await add({
        tool: "bash",
        pattern: "git push",
        effect: "allow",
        sessionId: session,
      });
      expect(rule).toMatchObject({ level: "user", match: "exact", sessionId: session });
      expect(await judged(session, "git push")).toMatchObject({ verdict: "allow" });
      expect(await judged(other, "git push")).toMatchObject({ verdict: "ask" });
      await remove(rule.id);
      expect(await judged(session, "git push")).toMatchObject({ verdict: "ask" });
    });

    it("keeps rules and previews to a size that can be judged", async () => {
      const glob = { tool: "bash", effect: "deny", pattern: `*${"a".repeat(500)}` };
      await expect(add(glob)).rejects.toMatchObject({ code: "pattern_invalid" });
      const exact = await add({ ...glob, match: "exact" });
      await remove(exact.id);
      await expect(preview({ tool: "bash", target: "a".repeat(20_001) })).rejects.toThrow();
    });

    it("takes the folder into account that a command would run in", async () => {
      const session = await world.createSession();
      const rule = await add({ tool: "bash", pattern: "git push", effect: "allow" });
      const judgedIn = async (cwd: string, command: string) => {
        const turn = await world.startTurn(session);
        const { c1 } = await turn.journal([
          { ...asks("c1", "bash", { command }), cwd } as JournalItem,
        ]);
        await turn.journal([], { settle: { outcome: "completed" } });
        return c1?.verdict;
      };
      expect(await judgedIn("/workspace/sub", "git push")).toBe("ask");
      expect(await judgedIn("/workspace/sub", "rm -rf dist")).toBe("allow");
      expect(await judgedIn("/tmp", "rm -rf dist")).toBe("ask");
      expect(await judged(session, "git push")).toMatchObject({ verdict: "allow" });
      await remove(rule.id);
    });

    const KEPT_APART = `'{"kind":"bubblewrap","why":null}'`;
    const set = (sandbox: string) =>
      world.kernel.engine.store.transaction((tx) =>
        tx.execute({ sql: `update runners set sandbox = ${sandbox}`, parameters: [] }),
      );

    it("takes nothing for the session's own where there is no sandbox", async () => {
      const session = await world.createSession();
      await set(`'{"kind":"local"}'`);
      expect(await judged(session, "rm -rf dist")).toMatchObject({ verdict: "ask" });
      await set(KEPT_APART);
      expect(await judged(session, "rm -rf dist")).toMatchObject({ verdict: "allow" });
    });

    it("asks before any command on a machine that is not known to keep it apart", async () => {
      const session = await world.createSession();
      const unkept = [
        `'{"kind":"local","why":null}'`,
        `'{"kind":"bubblewrap","why":"Bubblewrap is not installed."}'`,
        `'{"kind":"something new","why":null}'`,
        "null",
      ];
      for (const sandbox of unkept) {
        await set(sandbox);
        expect(await judged(session, "ls"), sandbox).toMatchObject({
          verdict: "ask",
          reason: expect.stringContaining("no sandbox"),
          sandboxed: false,
        });
        const read = await world.startTurn(session);
        const { c1 } = await read.journal([asks("c1", "read", { path: "notes.md" })]);
        expect(c1).toMatchObject({ verdict: "allow" });
        await read.journal([], { settle: { outcome: "completed" } });
      }
      const rule = await add({ tool: "bash", pattern: "ls", effect: "allow" });
      expect(await judged(session, "ls")).toMatchObject({ verdict: "allow" });
      await remove(rule.id);
      await set(KEPT_APART);
      expect(await judged(session, "ls")).toMatchObject({ verdict: "allow", sandboxed: true });
    });

    it("distinguishes an empty workspace from somebody's own folder", async () => {
      const fresh = await world.createSession();
      const repository = await world.createSession({ repo: "https://example.org/x.git" });
      expect(await judged(fresh, "rm -rf dist")).toMatchObject({ verdict: "allow" });
      expect(await judged(repository, "rm -rf dist")).toMatchObject({ verdict: "ask" });
    });

    it("lets an org's deny win over everything", async () => {
      const session = await world.createSession({}, member);
      const mine = await add({ tool: "bash", pattern: "*", effect: "allow" }, member);
      const deny = await add({
        level: "org",
        tool: "bash",
        pattern: "npm publish*",
        effect: "deny",
        note: "The pipeline publishes.",
      });
      expect(await judged(session, "git push", member)).toMatchObject({ verdict: "allow" });
      expect(await judged(session, "cd x && npm publish", member)).toMatchObject({
        verdict: "deny",
        reason: expect.stringMatching(new RegExp(`${deny.id}.*The pipeline publishes`)),
      });
      expect((await list(member)).map(({ level }) => level)).toEqual([
        "org",
        "user",
        ...(await list(stranger)).map(() => "builtin"),
      ]);
      expect((await list()).map(({ id }) => id)).not.toContain(mine.id);
      await remove(mine.id, member);
      await remove(deny.id);
    });

    it("keeps rules with those who may make them", async () => {
      const agent = {
        kind: "session",
        orgId: "org_1",
        sessionId: "ses_1",
        ownerId: "usr_1",
        name: "a",
      } as const;
      const fields = { tool: "bash", pattern: "*", effect: "allow" };
      await expect(world.call(agent, "POST", RULES, fields)).rejects.toMatchObject({
        code: "people_only",
      });
      await expect(add({ ...fields, level: "org" }, member)).rejects.toMatchObject({
        code: "forbidden",
      });
      await expect(add(fields, { ...member, scopes: ["sessions:read"] })).rejects.toMatchObject({
        code: "sign_in_needed",
      });
      const rule = await add(fields);
      await expect(remove(rule.id, member)).rejects.toMatchObject({ code: "not_found" });
      await expect(remove(rule.id, stranger)).rejects.toMatchObject({ code: "not_found" });
      const org = await add({ ...fields, level: "org", effect: "ask" });
      await expect(remove(org.id, member)).rejects.toMatchObject({ code: "forbidden" });
      await remove(org.id);
      await remove(rule.id);
      await expect(remove(rule.id)).rejects.toMatchObject({ code: "not_found" });
      const foreign = await world.createSession({}, member);
      await expect(add({ ...fields, sessionId: foreign })).rejects.toMatchObject({
        code: "not_found",
      });
      await expect(add({ ...fields, sessionId: foreign, level: "org" })).rejects.toMatchObject({
        code: "pattern_invalid",
      });
    });

    it("refuses an address that would be wider than it looks", async () => {
      const fields = { tool: "web_fetch", effect: "allow" };
      for (const pattern of [
        "https://example.org*",
        "https://*/x",
        "ex*mple.org",
        "https://a@example.org/*",
      ])
        await expect(add({ ...fields, pattern })).rejects.toMatchObject({
          code: "pattern_invalid",
        });
      for (const pattern of ["example.org", "*.example.org", "https://example.org/*", "*"])
        await remove((await add({ ...fields, pattern })).id);
    });

    it("shows what would happen, and why", async () => {
      const session = await world.createSession();
      expect(await preview({ tool: "bash", target: "cd a && rm -rf b" })).toMatchObject({
        effect: "ask",
        rule: { id: "builtin:recursive-delete", level: "builtin" },
        commands: ["cd a", "rm -rf b"],
        opaque: false,
      });
      expect(await preview({ tool: "bash", target: "rm -rf b", sessionId: session })).toMatchObject(
        {
          effect: "allow",
        },
      );
      expect(await preview({ tool: "todo" })).toMatchObject({ effect: "allow", commands: null });
      await expect(
        preview({ tool: "bash", target: "x", sessionId: session }, member),
      ).rejects.toMatchObject({
        code: "not_found",
      });
    });
  });
}

suite("on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("on PostgreSQL", createTestDatabase);
});
