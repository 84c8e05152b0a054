/** A member's own machine and the organisation's models, over HTTP on each database. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Assignment } from "#protocol/frames.ts";
import { type Browser, join, orgOf } from "#test/clients/people.ts";
import { connectRunner, type RawRunner } from "#test/clients/raw-runner.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type NewSession, type Platform, startPlatform } from "#test/platform.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const PATIENT = { timeout: 15_000, interval: 25 };

function story(name: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(name, () => {
    let platform: Platform;
    let model: ModelServer;
    let ann: Browser;
    let runnerToken: string;
    let runner: RawRunner;
    let orgId: string;
    beforeAll(async () => {
      model = await startModelServer();
      platform = await startPlatform({ runner: false, database });
      ({ orgId } = await orgOf(platform));
      ann = await join(platform, "Ann");
      await platform.api.providers.set({
        name: "lab",
        body: {
          kind: "openai-compatible",
          baseUrl: model.url,
          apiKey: "the-real-key-0123456789",
          models: ["small", "big"],
        },
      });
      runnerToken = (await ann.api.runnerTokens.create({ body: { name: "own" } })).token;
      runner = await connectRunner(platform, runnerToken);
    });
    afterAll(async () => {
      runner.socket.terminate();
      await platform.stop();
      await model.close();
    });

    const ask = async (token: string, body: object, headers: Record<string, string> = {}) => {
      const response = await fetch(`${platform.url}/api/gateway/lab/v1/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          ...headers,
        },
        body: JSON.stringify(body),
      });
      return { status: response.status, text: await response.text() };
    };
    const request = (name: string, said = "SAY hi\nUSAGE 100 20") => ({
      model: name,
      stream: true,
      messages: [{ role: "user", content: said }],
    });
    const begin = async (fields: NewSession = {}) => {
      const { session } = await ann.api.sessions.create({
        body: { runtime: "native", model: "lab/small", prompt: "go", ...fields },
      });
      return { id: session.id, turn: await runner.assigned() };
    };
    const settle = ({ run, fence }: Assignment) =>
      runner.send({
        op: "journal",
        id: run,
        run,
        fence,
        firstOrdinal: 1,
        items: [],
        settle: { outcome: "completed" },
      });

    it("spends nothing with the machine's token alone", async () => {
      const before = model.requests.length;
      const answer = await ask(runnerToken, request("small"));
      expect(answer).toMatchObject({
        status: 403,
        text: expect.stringMatching(/run_token_required/),
      });
      expect(model.requests.length).toBe(before);
    });

    it("serves a turn, metered, and that turn only", async () => {
      const { id, turn } = await begin();
      const warnings: string[] = [];
      const note = ({ message }: Error) => warnings.push(message);
      process.on("warning", note);
      const answer = await ask(turn.token, request("small"), {
        "x-api-key": "sk-of-my-own-0123456789",
      });
      process.off("warning", note);
      expect(warnings).toEqual([]);
      expect(answer.status).toBe(200);
      expect(answer.text).toContain("hi");
      const sent = model.requests.at(-1);
      expect(sent?.headers.authorization).toBe("Bearer the-real-key-0123456789");
      expect(sent?.headers["x-api-key"]).toBeUndefined();
      expect(sent?.body.stream_options).toEqual({ include_usage: true });
      const usage = await ann.api.usage.list({ query: { session: id } });
      expect(usage.total).toMatchObject({ requests: 1, inputTokens: 100, outputTokens: 20 });
      const other = await ask(turn.token, request("big"));
      expect(other).toMatchObject({
        status: 403,
        text: expect.stringMatching(/model_not_allowed/),
      });
      settle(turn);
      await expect
        .poll(async () => (await ask(turn.token, request("small"))).status, PATIENT)
        .toBe(401);
      const forged = turn.token.replace(/\.(\d+)\./, (_all, fence) => `.${Number(fence) + 1}.`);
      expect((await ask(forged, request("small"))).status).toBe(401);
    });

    it("is cut off when its turn ends, and the usage is counted", async () => {
      const { id, turn } = await begin();
      const before = model.requests.length;
      const slow = ask(turn.token, request("small", "SAY a b c d e f\nSLOW 600 100"));
      const failed = expect(slow).rejects.toThrow();
      await expect.poll(() => model.requests.length, PATIENT).toBe(before + 1);
      settle(turn);
      await failed;
      await expect.poll(() => model.requests.at(-1)?.wasCut, PATIENT).toBe(true);
      await expect
        .poll(async () => {
          const { total } = await ann.api.usage.list({ query: { session: id } });
          return total.requests;
        }, PATIENT)
        .toBe(1);
      const events = await platform.events(id);
      expect(events.find(({ type }) => type === "model_call")?.data).toMatchObject({
        estimated: true,
      });
    });

    it("is closed by an admin at once, also for running turns", async () => {
      const { turn } = await begin();
      const path = `/api/orgs/${orgId}/model-gateway`;
      expect((await ann.request("PUT", path, { personalRunners: false })).status).toBe(403);
      const { gateway } = platform.api;
      await gateway.update({ orgId, body: { personalRunners: false } });
      const answer = await ask(turn.token, request("small"));
      expect(answer).toMatchObject({ status: 403, text: expect.stringMatching(/gateway_closed/) });
      const list = await fetch(`${platform.url}/api/gateway`, {
        headers: { authorization: `Bearer ${runnerToken}` },
      });
      expect(await list.json()).toEqual({ items: [] });
      expect(runner.frames.some(({ op }) => op === "providers")).toBe(true);
      await gateway.update({ orgId, body: { personalRunners: true } });
      expect((await ask(turn.token, request("small"))).status).toBe(200);
      settle(turn);
    });
  });
}

story("a member's machine on sqlite", async () => undefined);
describe.skipIf(!postgresUrl)("with a PostgreSQL server", () => {
  story("a member's machine on postgres", createTestDatabase);
});
