/**
 * A prompt's way through model, tools and approval to its answer, in each provider's wire format,
 * and its audit trail: every step, and no content.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SessionEvent } from "#protocol/events.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import "#test/services/bubblewrap.ts";

const CANARY = "canary7f3a";
const MODELS = ["anthropic/test-1", "openai/test-1", "openai-chat/test-1", "local/test-1"];

describe("the golden path", () => {
  let platform: Platform;
  let model: ModelServer;
  const logLines: string[] = [];

  beforeAll(async () => {
    model = await startModelServer();
    platform = await startPlatform({
      logLines,
      env: {
        MUSTER_LOG_LEVEL: "debug",
        MUSTER_MODEL_SILENCE_SECONDS: "1",
        ANTHROPIC_API_KEY: `sk-ant-${CANARY}0000000000000000`,
        ANTHROPIC_BASE_URL: model.url,
        OPENAI_API_KEY: `sk-${CANARY}00000000000000000000`,
        OPENAI_BASE_URL: `${model.url}/v1`,
        MUSTER_PROVIDERS: JSON.stringify({ local: { baseUrl: model.url, models: ["test-1"] } }),
      },
    });
  });
  afterAll(async () => {
    await platform.stop();
    await model.close();
  });

  const open = (id: string) => platform.createSession({ runtime: "native", model: id });
  const audit = async (sessionId: string) =>
    (await platform.api.audit.list({ query: { session: sessionId, limit: 200 } })).items;
  const ofType = (events: SessionEvent[], type: string) =>
    events.filter((event) => event.type === type);

  it.each(MODELS)(
    "%s: text, reasoning, split and parallel calls, an approval refused",
    async (id) => {
      const session = await open(id);
      const prompt = await platform.prompt(
        session.id,
        [
          `Please ${CANARY}.`,
          "SPLIT 3",
          `CALL bash {"command": "echo ${CANARY}-one > a.txt; cat a.txt"}`,
          'ALSO glob {"pattern": "*"}',
          'ALSO read {"path": "a.txt"}',
          `CALL bash {"command": "rm -rf /tmp/${CANARY}"}`,
          `SAY All done ${CANARY}.`,
          "USAGE 100 20 40",
        ].join("\n"),
      );
      await platform.promptIn(prompt.id, "gated");
      const { approvals } = platform.api;
      const asked = await approvals.list({ query: { state: "pending", session: session.id } });
      await approvals.decide({
        id: asked.items[0]?.id ?? "",
        body: { decision: "deny", reason: `${CANARY} no` },
      });
      expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({
        error: null,
        outcome: "completed",
      });

      const events = await platform.events(session.id);
      expect(ofType(events, "post_tool")).toMatchObject([
        { toolName: "bash", toolOutput: `${CANARY}-one\n`, error: null, exitCode: 0 },
        { toolName: "glob", toolOutput: expect.stringContaining("a.txt"), error: null },
        { toolName: "read", toolOutput: expect.stringContaining(`${CANARY}-one`), error: null },
        { toolName: "bash", error: expect.stringContaining("did not allow") },
      ]);
      expect(ofType(events, "message").at(-1)?.content).toEqual([
        { type: "text", text: `All done ${CANARY}.` },
      ]);
      expect(ofType(events, "model_call")).toHaveLength(3);
      expect(ofType(events, "model_call")[0]?.data).toMatchObject({
        model: id,
        inputTokens: 100,
        cachedInputTokens: 40,
        outputTokens: 20,
        costMicros: null,
      });

      const trail = await audit(session.id);
      const count = (action: string) => trail.filter((item) => item.action === action).length;
      expect(count("message_received")).toBe(1);
      expect(count("message_complete")).toBe(1);
      expect(count("tool_executed")).toBe(3);
      expect(count("tool_denied")).toBe(1);
      const usage = await platform.api.usage.list({ query: { by: "session" } });
      expect(usage.items.find(({ key }) => key === session.id)).toMatchObject({
        requests: 3,
        inputTokens: 300,
        costMicros: null,
      });
    },
  );

  it.each([
    ["FAULT hang 1", "completed"],
    ["FAULT stall 1", "completed"],
    ["FAULT cut 1", "completed"],
    ["FAULT end 1", "completed"],
    ["FAULT garble 1", "completed"],
    ["FAULT body 1", "completed"],
    ["FAIL 529 1", "completed"],
    ["FAIL 503 2", "completed"],
    ["FAIL 429 1\nHEADER retry-after 0", "completed"],
    ["FAIL 401 9", "model_unauthorized"],
    ["FAIL 404 9", "model_not_found"],
    ["FAIL 400 9", "model_request_invalid"],
    ["HUGE 50", "model_response_too_large"],
  ])("a provider that misbehaves: %s → %s", async (words, expected) => {
    for (const id of ["anthropic/test-1", "openai/test-1"]) {
      const session = await open(id);
      const prompt = await platform.prompt(session.id, `${id} ${words}\n${words}\nSAY recovered`);
      const { outcome, error } = await platform.promptIn(prompt.id, "settled");
      expect(error?.code ?? outcome).toBe(expected);
    }
  });

  it("answers unknown tools and repeated ids", async () => {
    const session = await open("openai-chat/test-1");
    const prompt = await platform.prompt(
      session.id,
      'SAMEID\nCALL bash {"command": "echo 1"}\nALSO bash {"command": "echo 2"}\nINVENT teleport {"to": "x"}\nSAY ok',
    );
    expect(await platform.promptIn(prompt.id, "settled")).toMatchObject({ outcome: "completed" });
    const results = ofType(await platform.events(session.id), "post_tool");
    expect(results.map(({ toolOutput, error }) => error ?? toolOutput)).toEqual([
      "1\n",
      "2\n",
      expect.stringContaining("no tool named teleport"),
    ]);
  });

  it("leaves no content in audit trail, logs and metrics", async () => {
    const trail = await platform.api.audit.list({ query: { limit: 200 } });
    const metrics = await fetch(`${platform.url}/metrics`, {
      headers: { authorization: `Bearer ${platform.key}` },
    });
    expect(metrics.status).toBe(200);
    const places = [JSON.stringify(trail), await metrics.text(), logLines.join("\n")];
    expect(places.map((text) => text.includes(CANARY))).toEqual([false, false, false]);
    expect(logLines.length).toBeGreaterThan(0);
    expect(trail.items.length).toBeGreaterThan(20);
  });
});
