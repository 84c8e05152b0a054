import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Prompt } from "#protocol/sessions.ts";
import { apiKey, bearer } from "#test/clients/mcp.ts";
import { type Platform, startPlatform } from "#test/platform.ts";

/** A failed prompt is sent again with one request. */
describe("sending a failed prompt again", () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.stop());

  const retry = (id: string, headers?: Record<string, string>) =>
    platform.request<{ prompt: Prompt; error: { code: string } }>(
      "POST",
      `/api/prompts/${id}/retry`,
      {},
      headers,
    );
  const failed = async (fields: Record<string, unknown> = {}) => {
    const session = await platform.createSession({ title: "Broken" });
    const { id } = await platform.prompt(session.id, "fail no luck", fields);
    return platform.promptIn(id, "settled");
  };

  it("sends the same content and attachments to the same thread, once", async () => {
    const data = Buffer.from("a file").toString("base64");
    const attachments = [{ name: "a.txt", mediaType: "text/plain", data }];
    const prompt = await failed({ thread: "side", attachments });
    expect(prompt.outcome).toBe("failed");
    const first = await retry(prompt.id);
    expect(first.status).toBe(202);
    expect(first.body.prompt).toMatchObject({
      content: prompt.content,
      thread: "side",
      attachments: prompt.attachments,
      sessionId: prompt.sessionId,
    });
    expect(first.body.prompt.id).not.toBe(prompt.id);
    expect((await retry(prompt.id)).body.prompt.id).toBe(first.body.prompt.id);
    const again = await platform.promptIn(first.body.prompt.id, "settled");
    // A retry that failed can be retried.
    expect((await retry(again.id)).body.prompt.id).not.toBe(again.id);
  });

  it("refuses a prompt that did not fail, and an unknown one", async () => {
    const session = await platform.createSession();
    const { id } = await platform.prompt(session.id, "say fine");
    await platform.promptIn(id, "settled");
    expect((await retry(id)).body.error.code).toBe("prompt_not_failed");
    expect((await retry("pmt_none")).status).toBe(404);
  });

  it("refuses a prompt from the platform itself: it is nobody's to repeat", async () => {
    const { session: parent } = await platform.api.orchestrators.create();
    const child = await platform.createSession({ parentSessionId: parent.id });
    const { id } = await platform.prompt(child.id, "say done");
    await platform.promptIn(id, "settled");
    const findWake = async () => {
      const { items } = await platform.api.prompts.list({ id: parent.id });
      return items.find(({ author }) => author.kind === "system");
    };
    await expect.poll(findWake).toBeDefined();
    const wake = await findWake();
    await platform.promptIn(wake?.id ?? "", "settled");
    expect((await retry(wake?.id ?? "")).body.error.code).toBe("prompt_not_retryable");
  });

  it("is refused to a stranger and to a key that only reads", async () => {
    const prompt = await failed();
    const key = await apiKey(platform, ["sessions:read"]);
    const asked = await retry(prompt.id, bearer(key));
    expect([403, 404]).toContain(asked.status);
  });
});
