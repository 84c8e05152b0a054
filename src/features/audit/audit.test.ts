import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { approvals } from "#features/approvals/index.ts";
import { policy } from "#features/policy/index.ts";
import {
  asks,
  ended,
  member,
  modelCall,
  owner,
  startWorld,
  type World,
} from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createHeadKeeper } from "./chain/kept-head.ts";
import { sealTrail } from "./chain/seal.ts";
import { verifyTrail } from "./chain/verify.ts";
import type { AuditEvent } from "./contract.ts";
import { createAudit } from "./index.ts";

const CANARY = "canary-7f3a";
const DAY_MS = 24 * 60 * 60_000;

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      world = await startWorld([policy, approvals, createAudit().feature], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const list = async (query = "", who: Parameters<World["call"]>[0] = owner) =>
      world.call<{ items: AuditEvent[]; next: string | null }>(who, "GET", `/api/audit${query}`);
    const verify = () => world.as(owner).audit.verify();
    const execute = (sql: string, parameters: unknown[] = []) =>
      world.kernel.engine.store.transaction((tx) => tx.execute({ sql, parameters }));
    const deniesPush = {
      level: "org",
      tool: "bash",
      pattern: "git push*",
      effect: "deny",
    } as const;

    /** Runs a turn with every kind of event, and a secret in every field that the trail must not contain. */
    async function eventfulTurn(who = owner): Promise<string> {
      const sessionId = await world.createSession({ title: CANARY, instructions: CANARY }, who);
      const turn = await world.startTurn(sessionId, `say ${CANARY}`, who);
      await turn.journal([
        modelCall({ stopReason: CANARY, model: `lab/${CANARY} with words` }),
        { type: "message", entryId: "ent_m", kind: "text", text: CANARY },
        asks("c1", "bash", { command: `echo ${CANARY}` }),
        ended("c1", "bash", { output: CANARY, error: CANARY }),
        asks("c2", CANARY, { text: CANARY }),
        ended("c2", CANARY, { output: CANARY }),
        asks("c3", "bash", { command: `git push ${CANARY}` }),
        asks("c4", "web_fetch", { url: `https://example.org/${CANARY}` }),
      ]);
      await turn.journal([], { park: { kind: "gate", callId: "c4" } });
      const { approvals: asked } = world.as(who);
      const { items } = await asked.list({ query: { session: sessionId } });
      const body = { decision: "deny", reason: CANARY } as const;
      await asked.decide({ id: items[0]?.id ?? "", body });
      const next = await world.nextTurn();
      await next.journal([], {
        settle: {
          outcome: "failed",
          error: { code: `Oh ${CANARY}`, message: CANARY },
          usage: { inputTokens: 7, outputTokens: 3, costMicros: null },
        },
      });
      return sessionId;
    }

    it("has what happened and nothing of what was said", async () => {
      const rules = world.as(owner).policy;
      const { rule } = await rules.create({ body: deniesPush });
      const sessionId = await eventfulTurn();
      await rules.delete({ id: rule.id });
      const { items } = await list(`?session=${sessionId}`);
      expect(
        items
          .map(({ action }) => action)
          .toReversed()
          .toSorted(),
      ).toEqual(
        [
          "session_created",
          "message_received",
          "model_called",
          "tool_executed",
          "tool_executed",
          "tool_denied",
          "tool_denied",
          "approval_asked",
          "approval_decided",
          "tool_denied",
          "message_error",
        ].toSorted(),
      );
      expect(JSON.stringify(items)).not.toContain(CANARY);
      const of = (action: string) => items.filter((item) => item.action === action);
      const [received] = of("message_received");
      expect(received).toMatchObject({
        category: "channel",
        severity: "info",
        metadata: {
          sessionId,
          userId: "usr_1",
          channel: "api",
          authorKind: "user",
          chars: 4 + CANARY.length,
        },
      });
      const requestId = received?.metadata.requestId;
      expect(requestId).toMatch(/^run_/);
      expect(of("model_called")[0]).toMatchObject({
        category: "provider",
        metadata: {
          requestId,
          model: "unknown",
          stopReason: "other",
          durationMs: 50,
          costMicros: 300,
          usage: { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40, reasoningTokens: 5 },
        },
      });
      expect(
        of("tool_executed")
          .map(({ metadata }) => metadata.tool)
          .toSorted(),
      ).toEqual(["bash", "unknown"]);
      expect(of("tool_executed").find(({ metadata }) => metadata.tool === "bash")).toMatchObject({
        category: "tool",
        metadata: {
          requestId,
          durationMs: 12,
          exitCode: 1,
          failed: true,
          outputChars: CANARY.length,
        },
      });
      expect(
        of("tool_denied")
          .map(({ metadata }) => `${metadata.tool} ${metadata.code}`)
          .toSorted(),
      ).toEqual(["bash policy", "unknown invalid", "web_fetch person"]);
      expect(of("approval_decided")[0]?.metadata).toMatchObject({
        kind: "approval",
        tool: "web_fetch",
        allowed: false,
        scope: "once",
        by: "usr_1",
      });
      expect(of("message_error")[0]).toMatchObject({
        severity: "warning",
        metadata: { requestId, channel: "api", code: "runtime_error" },
      });
    });

    it("names what is known", async () => {
      const offer = { id: "anthropic/claude-x.1", provider: "anthropic" };
      await execute(`update runners set models = '${JSON.stringify([offer])}'`);
      const sessionId = await world.createSession({ runtime: "scripted" });
      const turn = await world.startTurn(sessionId);
      const smuggled = [`anthropic/${CANARY}:ssn-078-05-1120@ward-7`, CANARY, `${CANARY}/x`];
      const calls = ["anthropic/claude-x.1", ...smuggled].map((model) => modelCall({ model }));
      await turn.journal(calls, {
        settle: {
          outcome: "completed",
          usage: { inputTokens: 7, outputTokens: 3, costMicros: null },
        },
      });
      const [complete] = (await list(`?session=${sessionId}&action=message_complete`)).items;
      expect(complete?.metadata).toMatchObject({
        channel: "api",
        stopReason: "end_turn",
        outcome: "completed",
        attempts: 1,
      });
      expect(complete?.metadata.usage).toMatchObject({ outputTokens: expect.any(Number) });
      const called = (await list(`?session=${sessionId}&category=provider`)).items;
      expect(called.map(({ metadata }) => metadata.model).toSorted()).toEqual(
        ["anthropic/claude-x.1", "anthropic/other", "unknown", "unknown"].toSorted(),
      );
      expect(called[0]?.metadata).toMatchObject({ stopReason: "stop" });
      await execute("update runners set models = '[]'");
    });

    it("has no word of what people typed as a runtime", async () => {
      const sessionId = await world.createSession({ runtime: "patient_john_has_hepatitis_c" });
      const [created] = (await list(`?session=${sessionId}`)).items;
      expect(created?.metadata).toMatchObject({ runtime: "other" });
    });

    it("shows all to admins, their own to others, nothing to agents", async () => {
      const theirs = await eventfulTurn(member);
      const seen = await list("?limit=200", member);
      expect(seen.items.length).toBeGreaterThan(0);
      expect(new Set(seen.items.map(({ metadata }) => metadata.sessionId))).toEqual(
        new Set([theirs]),
      );
      const others = new Set(
        (await list("?limit=200")).items.map(({ metadata }) => metadata.sessionId),
      );
      expect(others.has(theirs) && others.size > 1).toBe(true);
      const agent = {
        kind: "session",
        orgId: "org_1",
        sessionId: theirs,
        ownerId: "usr_2",
        name: "a",
      } as const;
      await expect(list("", agent)).rejects.toMatchObject({ code: "forbidden" });
      await expect(list("", { ...member, scopes: ["tasks"] })).rejects.toMatchObject({
        code: "forbidden",
      });
      await expect(world.call(member, "GET", "/api/audit/verify")).rejects.toMatchObject({
        code: "forbidden",
      });
    });

    it("lists in pages, newest first, between two moments", async () => {
      const all = (await list("?limit=200")).items;
      const pages: AuditEvent[] = [];
      let cursor = "";
      do {
        const page = await list(`?limit=3${cursor}`);
        pages.push(...page.items);
        cursor = page.next === null ? "" : `&cursor=${page.next}`;
      } while (cursor !== "");
      expect(pages.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
      expect(all.map(({ at }) => at)).toEqual(
        all
          .map(({ at }) => at)
          .toSorted()
          .toReversed(),
      );
      expect((await list("?from=2999-01-01")).items).toEqual([]);
      expect((await list("?to=2999-01-01&limit=200")).items).toHaveLength(all.length);
    });

    it("is sealed in order, by several at once, each row once", async () => {
      const before = await verify();
      expect(before).toMatchObject({ ok: true, sealed: 0 });
      const { engine } = world.kernel;
      const keeper = createHeadKeeper("");
      const counts = await Promise.all([1, 2, 3, 4].map(() => sealTrail(engine, keeper, 3)));
      const later = await sealTrail(engine, keeper);
      const total = counts.reduce((sum, count) => sum + count, later);
      expect(total).toBe(before.unsealed);
      expect(await verify()).toMatchObject({
        ok: true,
        sealed: total,
        unsealed: 0,
        firstBroken: null,
      });
      expect(await verifyTrail(engine, keeper, 2)).toMatchObject({ ok: true, sealed: total });
      const places = (await list("?limit=200")).items
        .map(({ seq }) => seq)
        .toSorted((a, b) => (a ?? 0) - (b ?? 0));
      expect(places).toEqual(Array.from({ length: total }, (_, at) => at + 1));
    });

    it("reports the tail that is not sealed yet", async () => {
      const { sealed } = await verify();
      await world.createSession();
      expect(await verify()).toMatchObject({ ok: true, sealed, unsealed: 1 });
      world.clock.advance(2_000);
      await world.kernel.sweeps.tick();
      await expect.poll(verify).toMatchObject({ ok: true, sealed: sealed + 1, unsealed: 0 });
    });

    const columns = {
      at: "at + 1",
      action: "'x'",
      category: "'x'",
      severity: "'x'",
      session_id: "'ses_x'",
      user_id: "'usr_x'",
      run_id: "'run_x'",
      org_id: "'org_x'",
      metadata: "'{}'",
      prev_hash: "'x'",
      hash: "'x'",
    };
    it.each(Object.entries(columns))(
      "notices a change of %s, and that it was put back",
      async (column, value) => {
        const was = await world.kernel.engine.store.read((reader) =>
          reader.query<Record<string, unknown>>({
            sql: `select ${column} as was from audit_events where seq = 4`,
            parameters: [],
          }),
        );
        await execute(`update audit_events set ${column} = ${value} where seq = 4`);
        expect(await verify()).toMatchObject({ ok: false, sealed: 3, firstBroken: { seq: 4 } });
        await execute(
          `update audit_events set ${column} = ${world.kernel.engine.store.dialect === "postgres" ? "$1" : "?"} where seq = 4`,
          [was[0]?.was],
        );
        expect(await verify()).toMatchObject({ ok: true });
      },
    );

    it("notices rows that are gone, moved or forged", async () => {
      const { sealed, head } = await verify();
      const swap = async () => {
        await execute("update audit_events set seq = -1 where seq = 2");
        await execute("update audit_events set seq = 2 where seq = 3");
        await execute("update audit_events set seq = 3 where seq = -1");
      };
      await swap();
      expect(await verify()).toMatchObject({ ok: false, firstBroken: { seq: 2 } });
      await swap();
      const copy = (seq: number) =>
        execute(`insert into audit_events select 'aud_forged${seq}', org_id, at, category, action, severity, session_id,
          user_id, run_id, metadata, ${seq}, prev_hash, hash from audit_events where seq = 1`);
      await expect(copy(2)).rejects.toThrow();
      await copy(sealed + 1);
      expect(await verify()).toMatchObject({ ok: false, firstBroken: { seq: sealed + 1 } });
      await execute("delete from audit_events where id like 'aud_forged%'");
      expect(await verify()).toMatchObject({ ok: true });
      await execute(`update audit_events set seq = null where seq = ${sealed}`);
      expect(await verify()).toMatchObject({ ok: false, firstBroken: { seq: sealed } });
      await execute(`update audit_events set seq = ${sealed} where hash = '${head.hash}'`);
      expect(await verify()).toMatchObject({ ok: true });
      await execute("delete from audit_events where seq = 5");
      expect(await verify()).toMatchObject({ ok: false, sealed: 4, firstBroken: { seq: 5 } });
    });

    it.skipIf(name.includes("PostgreSQL"))("stays when the session goes", async () => {
      const sessionId = await world.createSession();
      await world.kernel.sessions.archive(owner, sessionId, false);
      world.clock.advance(8 * DAY_MS);
      await world.kernel.sweeps.tick();
      await expect(world.kernel.sessions.get(owner, sessionId)).rejects.toMatchObject({
        code: "not_found",
      });
      const { items } = await list(`?session=${sessionId}`);
      expect(items.map(({ action }) => action)).toContain("session_created");
    });
  });
}

suite("on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("on PostgreSQL", createTestDatabase);

  it("takes no end for broken that another server is about to sign", async () => {
    const made = await createTestDatabase();
    const world = await startWorld([createAudit().feature], made.url);
    const { engine } = world.kernel;
    const keeper = createHeadKeeper("");
    await engine.store.transaction(async (tx) => {
      await tx.execute({ sql: "select 1 from audit_head for update", parameters: [] });
      await sealTrail(engine, keeper);
    });
    await sealTrail(engine, keeper);
    expect(await verifyTrail(engine, keeper)).toMatchObject({ ok: true, firstBroken: null });
    await world.stop();
    await made.drop();
  });
});
