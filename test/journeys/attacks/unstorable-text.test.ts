/**
 * Text that no database stores (NUL, broken Unicode) in every string of every route: no request
 * fails, and both databases give the same answers.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKey, bearer, calling, listing, post } from "#test/clients/mcp.ts";
import { openSocket, orgOf } from "#test/clients/people.ts";
import { connectRunner } from "#test/clients/raw-runner.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import { Random } from "#test/random.ts";
import { type Schema, type SchemaContext, valueFor } from "#test/requests/from-schema.ts";
import { listOperations, type Operation } from "#test/requests/operations.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

const NUL = "a\u0000b";
const BROKEN = "x\ud83d";
/** A fixed seed: both platforms get the same requests. */
const SEED = 5;
const SCOPES = ["sessions:read", "sessions:write", "tasks", "mail"] as const;
/** Routes left out because they end sessions that the other requests need. */
const LEFT_OUT = /sign-out|\/password$|\/events$/;

interface Trial {
  method: string;
  path: string;
  body?: unknown;
}

/** Copies of a body with one string or one key replaced in each. */
function spoiledBodies(value: unknown, bad: string): unknown[] {
  if (typeof value === "string") return [bad];
  if (Array.isArray(value))
    return value.flatMap((item, at) =>
      spoiledBodies(item, bad).map((spoiled) => value.with(at, spoiled)),
    );
  if (typeof value !== "object" || value === null) return [];
  const entries = Object.entries(value);
  return [
    { ...value, [bad]: 1 },
    ...entries.flatMap(([key, item]) =>
      spoiledBodies(item, bad).map((spoiled) => ({ ...value, [key]: spoiled })),
    ),
  ];
}

function trialsOf(operation: Operation, components: Readonly<Record<string, Schema>>): Trial[] {
  const { method, path } = operation;
  const context: SchemaContext = {
    random: new Random(SEED),
    components,
    odds: 0,
    optional: 1,
    known: () => undefined,
  };
  const fitting = operation.body && valueFor(context, operation.body);
  const plain = { method, path, ...(fitting === undefined ? {} : { body: fitting }) };
  const trials: Trial[] = [];
  for (const [, name] of path.matchAll(/\{(\w+)\}/g))
    if (name !== "orgId")
      trials.push({ ...plain, path: path.replace(`{${name}}`, encodeURIComponent(NUL)) });
  for (const { name } of operation.query)
    for (const bad of ["%00", "a%00b", "%ED%A0%80", "%ff"])
      trials.push({ ...plain, path: `${path}?${name}=${bad}` });
  if (fitting !== undefined)
    for (const bad of [NUL, BROKEN])
      for (const body of spoiledBodies(fitting, bad)) trials.push({ ...plain, body });
  return trials;
}

describe.skipIf(!postgresUrl)("text that no database stores", () => {
  let database: TestDatabase;
  const platforms: Platform[] = [];
  const logs: string[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
    for (const env of [{}, { MUSTER_DATABASE_URL: database.url }])
      platforms.push(await startPlatform({ runner: false, env, logLines: logs }));
  });
  afterAll(async () => {
    for (const platform of platforms) await platform.stop();
    await database.drop();
  });

  /** Status and code of each answer. */
  async function answersOf(platform: Platform): Promise<string[]> {
    const { orgId } = await orgOf(platform);
    const { id } = await platform.createSession({ runtime: "echo" });
    const { operations, components } = await listOperations(platform);
    const answers: string[] = [];
    for (const operation of operations) {
      if (LEFT_OUT.test(operation.path) || operation.path === "/mcp") continue;
      for (const { method, path, body } of trialsOf(operation, components)) {
        const filled = path
          .replace("{orgId}", orgId)
          .replace(/sessions\/\{\w+\}/, `sessions/${id}`)
          .replaceAll(/\{\w+\}/g, "none");
        const response = await fetch(platform.url + filled, {
          method,
          headers: { ...bearer(platform.key), "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        const text = await response.text();
        const code = /"code":"(\w+)"/.exec(text)?.[1] ?? "";
        answers.push(`${method} ${path} ${JSON.stringify(body)} ${response.status} ${code}`);
      }
    }
    return answers;
  }

  it("is cleaned in a runner's frames, and nothing is lost", async () => {
    for (const platform of platforms) {
      const made = await platform.request<{ token: string }>("POST", "/api/runners/tokens", {
        name: "r",
      });
      const runner = await connectRunner(platform, made.body.token, NUL);
      const { id } = await platform.createSession({ runtime: "native", model: "lab/small" });
      const { id: promptId } = await platform.prompt(id, `said ${NUL}`);
      const { run, fence } = await runner.assigned();
      const items = [
        { type: "message", entryId: "e1", step: 0, kind: "text", text: NUL },
        {
          type: "pre_tool",
          entryId: "e2",
          step: 0,
          callId: NUL,
          tool: NUL,
          input: { [NUL]: BROKEN },
        },
      ];
      const settle = { outcome: "completed", result: NUL };
      const frame = { op: "journal", run, fence, firstOrdinal: 0, items, settle };
      expect(await runner.ask(frame)).toMatchObject({ op: "journaled" });
      await platform.promptIn(promptId, "settled");
      const { body } = await platform.request("GET", `/api/sessions/${id}/transcript`);
      const text = JSON.stringify(body);
      expect(text).toContain("a\ufffdb");
      expect(text).not.toMatch(/\\u0000|\\ud83d/);
      const runners = await platform.request<{ items: { name: string }[] }>("GET", "/api/runners");
      expect(runners.body.items.map(({ name }) => name)).toContain("a\ufffdb");
      runner.socket.terminate();
    }
    expect(logs).toEqual([]);
  });

  it("fails no request, and both databases answer alike", async () => {
    const [onSqlite = [], onPostgres = []] = await Promise.all(platforms.map(answersOf));
    expect(onSqlite.length).toBeGreaterThan(1_000);
    expect([...onSqlite, ...onPostgres].filter((answer) => / 5\d\d \w*$/.test(answer))).toEqual([]);
    expect(onPostgres).toEqual(onSqlite);
    expect(logs).toEqual([]);
  }, 180_000);

  it.each([
    "/api/usage?session=%00",
    "/api/approvals?session=%00",
    "/api/orgs/{orgId}/personas?q=%00",
    "/api/orgs/{orgId}/repos?q=%00",
    "/api/audit?session=%00",
  ])("is refused in a filter: %s", async (path) => {
    for (const platform of platforms) {
      const { orgId } = await orgOf(platform);
      const { status, body } = await platform.request("GET", path.replace("{orgId}", orgId));
      expect([status, body]).toMatchObject([400, { error: { code: "invalid_input" } }]);
    }
  });

  it("is refused as a topic of the live socket, which stays open", async () => {
    for (const platform of platforms) {
      const socket = await openSocket(platform, "/api/live", bearer(platform.key));
      const answers: { code?: string }[] = [];
      socket.on("message", (data) => answers.push(JSON.parse(String(data)) as { code?: string }));
      for (const topic of [`session:${NUL}`, `board:${BROKEN}`, NUL])
        socket.send(JSON.stringify({ op: "subscribe", topic, after: 0 }));
      socket.send('{"op":"subscribe","topic":"me","after":1e999}');
      await expect.poll(() => answers.length).toBe(4);
      expect(answers.map(({ code }) => code)).toEqual([
        "not_found",
        "not_found",
        "not_found",
        "invalid_frame",
      ]);
      socket.terminate();
    }
    expect(logs).toEqual([]);
  });

  it("is refused by the tools of a person's MCP client", async () => {
    for (const platform of platforms) {
      const key = bearer(await apiKey(platform, SCOPES));
      const { body } = await post(platform, listing(), key);
      for (const { name, inputSchema } of body.result.tools) {
        const context = {
          random: new Random(SEED),
          components: {},
          odds: 0,
          known: () => undefined,
        };
        const fitting = valueFor({ ...context, optional: 1 }, inputSchema as Schema);
        for (const input of spoiledBodies(fitting, NUL)) {
          const called = { wait: false, ...(input as object) };
          const answer = await post(platform, calling(name, called), key);
          expect(answer.status).toBe(200);
          expect(answer.body.error).toBeUndefined();
        }
      }
    }
    expect(logs).toEqual([]);
  }, 120_000);
});
