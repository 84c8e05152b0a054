/** A model provider stored in the settings, across restarts of the runner. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ModelServer, startModelServer, TEST_MODEL } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";

describe("with a provider stored in the settings", () => {
  let model: ModelServer;
  let platform: Platform;
  beforeAll(async () => {
    model = await startModelServer();
    platform = await startPlatform({
      // Nothing listens at this address, so the stored provider is the only one.
      env: { MUSTER_RUNTIME: "native", OLLAMA_HOST: "127.0.0.1:9" },
      runner: false,
    });
    await platform.api.providers.set({
      name: "house",
      body: { kind: "openai-compatible", baseUrl: model.url, apiKey: "sk-house" },
    });
  });
  afterAll(async () => {
    await platform.stop();
    await model.close();
  });

  async function startTurns(count: number, content: string, fields: object) {
    const prompts = [];
    for (let n = 0; n < count; n++) {
      const session = await platform.createSession({ runtime: "native", ...fields });
      prompts.push(await platform.prompt(session.id, content));
    }
    return prompts;
  }

  it("completes prompts that waited for a runner", async () => {
    const named = await startTurns(5, "SAY hello", { model: `house/${TEST_MODEL}` });
    const unnamed = await startTurns(5, "SAY hello", {});
    await platform.startRunner();
    for (const { id } of [...named, ...unnamed])
      expect(await platform.promptIn(id, "settled")).toMatchObject({ outcome: "completed" });
    // Sessions without a model use the stored provider, not the built-in demo.
    expect(model.requests.length).toBe(10);
  });

  it("completes running turns after the runner was restarted", async () => {
    const prompts = await startTurns(5, "SLOW 20 100", { model: `house/${TEST_MODEL}` });
    for (const { id } of prompts) await platform.promptIn(id, "running");
    await platform.restartRunner();
    for (const { id } of prompts)
      expect(await platform.promptIn(id, "settled")).toMatchObject({ outcome: "completed" });
  });

  it("uses a provider that was just stored, and fails once it is removed", async () => {
    await platform.api.providers.set({
      name: "late",
      body: { kind: "openai-compatible", baseUrl: model.url, models: [TEST_MODEL] },
    });
    const [prompt] = await startTurns(1, "SAY hello", { model: `late/${TEST_MODEL}` });
    expect(await platform.promptIn(prompt?.id ?? "", "settled")).toMatchObject({
      outcome: "completed",
    });
    await platform.api.providers.delete({ name: "late" });
    const [gone] = await startTurns(1, "SAY hello", { model: `late/${TEST_MODEL}` });
    expect(await platform.promptIn(gone?.id ?? "", "settled")).toMatchObject({
      outcome: "failed",
      error: { code: expect.stringMatching(/^model_not_(available|found)$/) },
    });
  });
});
