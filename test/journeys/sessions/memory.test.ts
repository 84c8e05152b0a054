/** An orchestrator's memory: a person's notes reach its model, and its notes reach the person. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
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
    const { id } = (await who.api.routing.prompt({ body: { content } })).prompt;
    const outcome = async () => (await who.api.prompts.get({ id })).prompt.outcome;
    await expect.poll(outcome, { timeout: 15_000 }).toBe("completed");
    return JSON.stringify(model.requests.at(-1)?.body);
  };

  it("reaches the model after the prompt it matches, and stays there", async () => {
    const content = "Checkout means the payments service";
    await ann.api.memory.create({ body: { content } });
    expect(await say(ben, "SAY nothing about checkout")).not.toContain(content);
    const asked = await say(ann, "SAY the checkout is slow");
    expect(asked).toContain("Memories that may matter (information ");
    expect(asked).toContain(content);
    const transcript = await ann.api.sessions.transcript({ id: "orchestrator" });
    expect(JSON.stringify(transcript)).toContain(content);
    const later = await say(ann, "SAY something else");
    expect(later.split(content)).toHaveLength(2);
    const listed = await ann.api.memory.list();
    expect(listed.items).toMatchObject([{ content, accessCount: 0 }]);
  });

  it("is written by the orchestrator with its source", async () => {
    const input = JSON.stringify({ content: "Ann likes tea", category: "preference" });
    await say(ann, `CALL memory_write ${input}`);
    const found = await ann.api.memory.list({ query: { query: "tea" } });
    expect(found.items).toMatchObject([
      { content: "Ann likes tea", source: { sessionId: `orchestrator:${ann.userId}` } },
    ]);
    const other = await ben.api.memory.list({ query: { query: "tea" } });
    expect(other.items).toEqual([]);
  });
});
