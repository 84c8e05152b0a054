import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAudit } from "#features/audit/index.ts";
import { modelCall, owner, startWorld, type Turn, type World } from "#features/testing/index.ts";
import { usage } from "#features/usage/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import type { GatewaySettings } from "./contract.ts";
import { createGateway } from "./index.ts";
import { insertCall } from "./queries.ts";

/** One cent per token. */
const MICROS_PER_TOKEN = 10_000;
const MAX_TURN_MICROS = 100_000_000;
const RUNNER = {
  kind: "runner",
  orgId: "org_1",
  credentialId: "crd_1",
  tags: [],
  name: "r",
} as const;

const sse = (event: object) => Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
const counted = (input: number, output: number) =>
  sse({ choices: [], usage: { prompt_tokens: input, completion_tokens: output } });

function suite(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    /** State of the provider `lab`: a request has reached it before. */
    let isTried = true;
    const answered: string[] = [];
    const gateway = createGateway({
      providers: {
        resolve: async (_engine, orgId, provider) =>
          orgId === "org_1" && provider === "lab"
            ? { kind: "openai-compatible", baseUrl: "http://lab/v1", apiKey: "k" }
            : undefined,
        list: async () => [
          { name: "lab", kind: "openai-compatible", models: ["small", "big"], answered: isTried },
        ],
        noteAnswered: async (_engine, _orgId, name) => void answered.push(name),
      },
      environment: [
        { name: "anthropic", kind: "anthropic", baseUrl: "http://a/v1", apiKey: "e", models: null },
      ],
      price: (model, { inputTokens, outputTokens }) => {
        const costMicros = model.endsWith("free")
          ? null
          : (inputTokens + outputTokens) * MICROS_PER_TOKEN;
        return { costMicros, priceId: "p" };
      },
      maxTurnMicros: MAX_TURN_MICROS,
    });
    let world: World;
    let made: TestDatabase | undefined;
    beforeAll(async () => {
      made = await database();
      world = await startWorld([usage, createAudit().feature, gateway.feature], made?.url);
    });
    afterAll(async () => {
      await world.stop();
      await made?.drop();
    });

    const served = () => gateway.serve(world.kernel.engine);
    const agentOf = async (turn: Turn) => {
      const agent = await world.kernel.agents.identify(turn.assignment.token);
      if (!agent) throw new Error("the token is not good");
      return agent;
    };
    /** Opens a call as the HTTP surface does, with a long body so that its estimate is above zero. */
    const open = async (
      turn: Turn,
      { provider = "lab", model = "small", by = served(), agent = agentOf(turn) } = {},
    ) =>
      by.open(await agent, {
        provider,
        route: provider === "anthropic" ? "messages" : "chat/completions",
        readBody: async () => Buffer.from(JSON.stringify({ model })),
      });
    const passes = async (...args: Parameters<typeof open>) => {
      const opened = await open(...args);
      if ("spent" in opened) throw new Error(opened.spent);
      return opened;
    };
    const use = async (turn: Turn, input: number, output: number) => {
      const passage = await passes(turn);
      passage.meter(true).take(counted(input, output));
      await passage.end(false);
    };
    const begin = async (fields: Record<string, unknown> = { model: "lab/small" }) => {
      const id = await world.createSession(fields);
      return { id, turn: await world.startTurn(id) };
    };
    const usageOf = async (id: string) =>
      (await world.as(owner).usage.list({ query: { by: "session", session: id } })).items[0];
    const modelCalls = async (id: string) =>
      (await world.kernel.sessions.events(id, 0, 1000)).filter(({ type }) => type === "model_call");
    const set = (body: object) =>
      world.call<{ gateway: GatewaySettings }>(owner, "PUT", "/api/orgs/org_1/model-gateway", body);

    it("counts what the provider said, once, whatever the runner says of the same request", async () => {
      const { id, turn } = await begin();
      await use(turn, 100, 20);
      await turn.journal([modelCall({ costMicros: 1, inputTokens: 1 })]);
      expect(await usageOf(id)).toMatchObject({
        requests: 1,
        inputTokens: 100,
        outputTokens: 20,
        costMicros: 120 * MICROS_PER_TOKEN,
      });
      await turn.journal([modelCall()], {
        settle: {
          outcome: "completed",
          usage: { inputTokens: 5, outputTokens: 5, costMicros: 5 },
        },
      });
      expect(await usageOf(id)).toMatchObject({ requests: 1, inputTokens: 100, turns: 1 });
      const [event, ...more] = await modelCalls(id);
      expect(more).toEqual([]);
      expect(event?.data).toMatchObject({ model: "lab/small", inputTokens: 100, priceId: "p" });
      expect((await world.kernel.sessions.get(owner, id)).cost).toMatchObject({});
    });

    it("reports the first answer of an untried provider, and of no other", async () => {
      const { turn } = await begin();
      await use(turn, 1, 1);
      expect(answered).toEqual([]);
      isTried = false;
      const failed = await passes(turn);
      await failed.fail();
      await failed.end(true);
      expect(answered).toEqual([]);
      await use(turn, 1, 1);
      expect(answered).toEqual(["lab"]);
      isTried = true;
      await turn.end("done");
    });

    it("leaves a row in the trail without a word of what was said", async () => {
      const { id, turn } = await begin();
      await use(turn, 7, 3);
      const rows = await world.as(owner).audit.list({ query: { session: id } });
      expect(rows.items.filter(({ action }) => action === "model_called")).toMatchObject([
        { metadata: { usage: { inputTokens: 7, outputTokens: 3 }, costMicros: 100_000 } },
      ]);
      await turn.end("done");
    });

    it("takes a runner's word where the gateway was not used", async () => {
      const { id, turn } = await begin();
      await turn.journal([modelCall()], { settle: { outcome: "completed" } });
      expect(await usageOf(id)).toMatchObject({ requests: 1, inputTokens: 100, costMicros: 300 });
    });

    it("estimates what was cut off and marks it; what failed costs nothing", async () => {
      const { id, turn } = await begin();
      const cut = await passes(turn);
      cut.meter(true).take(sse({ choices: [{ delta: { content: "x".repeat(400) } }] }));
      await cut.end(true);
      const failed = await passes(turn);
      await failed.fail();
      await failed.end(true);
      expect(await usageOf(id)).toMatchObject({ requests: 1, outputTokens: 100 });
      expect((await modelCalls(id)).map(({ data }) => data)).toMatchObject([
        { estimated: true, stopReason: "aborted" },
      ]);
      await turn.end("done");
    });

    it("is closed to a turn that has ended, waits, was given back or taken over", async () => {
      const over = { code: "run_over" };
      const { id, turn } = await begin();
      const agent = await agentOf(turn);
      await turn.release();
      await expect(open(turn, { agent: Promise.resolve(agent) })).rejects.toMatchObject(over);
      const again = await world.nextTurn();
      await expect(open(turn, { agent: Promise.resolve(agent) })).rejects.toMatchObject(over);
      expect(await world.kernel.agents.identify(turn.assignment.token)).toBeUndefined();
      const holder = await agentOf(again);
      expect(await served().isStillHeld(holder)).toBe(true);
      await again.end("done");
      await expect(open(again, { agent: Promise.resolve(holder) })).rejects.toMatchObject(over);
      expect(await served().isStillHeld(holder)).toBe(false);
      const second = await world.startTurn(id);
      const waiting = await agentOf(second);
      await second.journal([], {
        park: { kind: "pause", waitMs: 60_000, code: "model_quota_exhausted", message: "later" },
      });
      await expect(open(second, { agent: Promise.resolve(waiting) })).rejects.toMatchObject(over);
    });

    it("opens the model of the turn and no other, as it was when the turn began", async () => {
      const refused = { code: "model_not_allowed" };
      const { id, turn } = await begin();
      for (const model of ["big", "SMALL", "small ", "lab/small", "small\u0000", "../small"])
        await expect(open(turn, { model })).rejects.toMatchObject(refused);
      await world.kernel.sessions.update(owner, id, { model: "lab/big" });
      await expect(open(turn, { model: "big" })).rejects.toMatchObject(refused);
      await use(turn, 1, 1);
      await turn.end("done");
      const next = await world.startTurn(id);
      await expect(open(next, { model: "small" })).rejects.toMatchObject(refused);
      await (await passes(next, { model: "big" })).fail();
      await next.end("done");
    });

    it("opens what is offered to a turn without a model of its own", async () => {
      const { turn } = await begin({});
      await (await passes(turn, { model: "big" })).fail();
      await expect(open(turn, { model: "dear" })).rejects.toMatchObject({
        code: "model_not_allowed",
      });
      await turn.end("done");
    });

    it("opens nothing that is not offered because a session names it", async () => {
      const { turn } = await begin({ model: "lab/dear" });
      await expect(open(turn, { model: "dear" })).rejects.toMatchObject({
        code: "model_not_allowed",
        message: expect.stringContaining("does not offer"),
      });
      await turn.end("done");
    });

    it("ends a turn whose budget is spent, and says so to its agent", async () => {
      const { id, turn } = await begin({ model: "lab/small", budget: 100 * MICROS_PER_TOKEN });
      await use(turn, 60, 39);
      await use(turn, 60, 39);
      const agent = agentOf(turn);
      expect(await open(turn, { agent })).toMatchObject({ kind: "openai-compatible" });
      expect(await open(turn, { agent })).toHaveProperty("spent");
      // The agent's own report does not matter.
      await turn.journal([], {
        settle: { outcome: "failed", error: { code: "model_quota_exhausted", message: "m" } },
      });
      const { items } = await world.kernel.prompts.list(owner, id, { limit: 1 });
      expect(items[0]).toMatchObject({
        outcome: "failed",
        error: { code: "budget_exhausted" },
      });
    });

    it("is closed to a turn that is being stopped", async () => {
      const { id, turn } = await begin();
      const agent = agentOf(turn);
      await world.kernel.sessions.stop(owner, id);
      await expect(open(turn, { agent })).rejects.toMatchObject({ code: "run_over" });
      await turn.journal([], { settle: { outcome: "aborted" } });
      const { items } = await world.kernel.prompts.list(owner, id, { limit: 1 });
      expect(items[0]).toMatchObject({ outcome: "aborted", error: null });
    });

    it("holds what is under way against the budget, and against what a turn may cost", async () => {
      const { turn } = await begin({ model: "lab/small", budget: 8 * MICROS_PER_TOKEN });
      // Two bodies of 17 bytes are estimated at five tokens each.
      const first = await passes(turn);
      const second = await passes(turn);
      expect(await open(turn)).toHaveProperty("spent");
      await first.fail();
      await second.fail();
      const { id: _id, turn: other } = await begin();
      await use(other, MAX_TURN_MICROS / MICROS_PER_TOKEN, 0);
      expect(await open(other)).toMatchObject({
        spent: expect.stringContaining("MUSTER_MAX_TURN_COST"),
      });
      await other.end("done");
    });

    it("lets a few requests of a turn through at a time, refused ones not counted", async () => {
      const { turn } = await begin();
      const by = served();
      const opened = [];
      for (let count = 0; count < 4; count++) opened.push(await passes(turn, { by }));
      await expect(open(turn, { by })).rejects.toMatchObject({ code: "too_many_model_requests" });
      await opened[0]?.end(true);
      for (let count = 0; count < 6; count++)
        await expect(open(turn, { by, model: "big" })).rejects.toMatchObject({
          code: "model_not_allowed",
        });
      await (await passes(turn, { by })).fail();
      for (const one of opened) await one.end(true);
      await turn.end("done");
    });

    it("counts a request whose server has died, once", async () => {
      const { id, turn } = await begin();
      const { engine } = world.kernel;
      const run = await agentOf(turn);
      await engine.store.transaction((tx) =>
        insertCall(tx, {
          id: "gwc_dead",
          org_id: "org_1",
          session_id: id,
          run_id: run.run?.runId ?? "",
          server_id: "srv_dead",
          model: "lab/small",
          request_bytes: 400,
          reserved_micros: 0,
          started_at: 1,
        }),
      );
      const [sweep] = gateway.feature.sweeps ?? [];
      await sweep?.run(engine, engine.clock.now());
      await sweep?.run(engine, engine.clock.now());
      expect(await usageOf(id)).toMatchObject({ requests: 1, inputTokens: 100, outputTokens: 0 });
      await turn.end("done");
    });

    it("is closed to members' machines, and opens the server's own keys, by an admin's word", async () => {
      const mine = { ...RUNNER, scope: "user:usr_2" };
      const theirs = { ...RUNNER, scope: "org" };
      const names = async (who: typeof mine | typeof theirs) =>
        (await served().list(who)).map((one) => one.name);
      expect((await set({})).gateway).toMatchObject({
        personalRunners: true,
        environmentKeys: false,
      });
      expect([await names(mine), await names(theirs)]).toEqual([["lab"], ["lab"]]);
      expect(await served().find(theirs, "anthropic")).toBeUndefined();
      await set({ personalRunners: false });
      expect([await names(mine), await names(theirs)]).toEqual([[], ["lab"]]);
      await expect(served().find(mine, "lab")).rejects.toMatchObject({ code: "gateway_closed" });
      // The turn of the test's runner, which becomes a member's own.
      const { turn } = await begin();
      const { engine } = world.kernel;
      const own = (id: string) =>
        engine.store.transaction((tx) =>
          tx.execute({ sql: `update runners set owner_id = ${id}`, parameters: [] }),
        );
      await own("'usr_2'");
      await expect(open(turn)).rejects.toMatchObject({ code: "gateway_closed" });
      await own("null");
      await (await passes(turn)).fail();
      await turn.end("done");
      await set({ personalRunners: true, environmentKeys: true });
      expect(await names(mine)).toEqual(["lab", "anthropic"]);
      const { turn: claude } = await begin({ model: "anthropic/opus" });
      await (await passes(claude, { provider: "anthropic", model: "opus" })).fail();
      await set({ environmentKeys: false });
      await expect(open(claude, { provider: "anthropic", model: "opus" })).rejects.toMatchObject({
        code: "not_found",
      });
      await claude.end("done");
    });
  });
}

suite("on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("on PostgreSQL", createTestDatabase);
});
