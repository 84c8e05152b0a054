/** An orchestrator's memory: a person's notes reach its model, and its notes reach the person. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Memory } from "#features/memory/contract.ts";
import type { Prompt } from "#protocol/sessions.ts";
import { type Browser, join } from "#test/clients/people.ts";
import { type ModelServer, startModelServer } from "#test/model-server/model-server.ts";
import { type Platform, startPlatform } from "#test/platform.ts";
import "#test/services/bubblewrap.ts";

describe("memory", () => {
  let platform: Platform;
  let model: ModelServer;
  let ann: Browser;
  let ben: Browser;
  beforeAll(async () => {
    model = await startModelServer();
    platform = await startPlatform({
      env: { MUSTER_MODEL: "openai/test-1", OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "k" },
    });
    ann = await join(platform, "Ann");
    ben = await join(platform, "Ben");
  });
  afterAll(async () => {
    await platform.stop();
    await model.close();
  });

  const say = async (who: Browser, content: string) => {
    const said = await who.request<{ prompt: Prompt }>("POST", "/api/prompt", { content });
    const path = `/api/prompts/${said.body.prompt.id}`;
    const outcome = async () =>
      (await who.request<{ prompt: Prompt }>("GET", path)).body.prompt.outcome;
    await expect.poll(outcome, { timeout: 15_000 }).toBe("completed");
    return JSON.stringify(model.requests.at(-1)?.body);
  };

  it("reaches the model after the prompt it matches, and stays there", async () => {
    const content = "Checkout means the payments service";
    const kept = await ann.request("POST", "/api/me/memories", { content });
    expect(kept.status).toBe(201);
    expect(await say(ben, "SAY nothing about checkout")).not.toContain(content);
    const asked = await say(ann, "SAY the checkout is slow");
    expect(asked).toContain("Memories that may matter (information ");
    expect(asked).toContain(content);
    const transcript = await ann.request("GET", "/api/sessions/orchestrator/transcript");
    expect(JSON.stringify(transcript.body)).toContain(content);
    const later = await say(ann, "SAY something else");
    expect(later.split(content)).toHaveLength(2);
    const listed = await ann.request<{ items: Memory[] }>("GET", "/api/me/memories");
    expect(listed.body.items).toMatchObject([{ content, accessCount: 0 }]);
  });

  it("is written by the orchestrator with its source", async () => {
    const input = JSON.stringify({ content: "Ann likes tea", category: "preference" });
    await say(ann, `CALL memory_write ${input}`);
    const found = await ann.request<{ items: Memory[] }>("GET", "/api/me/memories?query=tea");
    expect(found.body.items).toMatchObject([
      { content: "Ann likes tea", source: { sessionId: `orchestrator:${ann.userId}` } },
    ]);
    const other = await ben.request<{ items: Memory[] }>("GET", "/api/me/memories?query=tea");
    expect(other.body.items).toEqual([]);
  });
});
