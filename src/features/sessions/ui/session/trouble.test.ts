import { describe, expect, it } from "vitest";
import type { ModelCapability } from "#protocol/models.ts";
import type { Prompt, Session } from "#protocol/sessions.ts";
import { troubleOf } from "./trouble.ts";

const session = (model: string | null, fields: Partial<Session> = {}) =>
  ({ id: "ses_1", runtime: "native", model, ...fields }) as Session;
const failed = (code: string, kind = "user") =>
  ({ id: "pmt_1", author: { kind }, error: { code, message: "Do this." } }) as Prompt;
const usable = (id: string) => ({ id, provider: id.split("/")[0], usable: true, why: null });
const offers = [
  usable("anthropic/sonnet"),
  { id: "house/*", provider: "house", usable: false, why: "house does not answer. Start it." },
] as ModelCapability[];

describe("the trouble of a session", () => {
  it("is none when its model works and its last turn did not fail", () => {
    expect(troubleOf(session("anthropic/sonnet"), undefined, offers)).toBeNull();
    expect(troubleOf(session(null), undefined, offers)).toBeNull();
    expect(troubleOf(session("anthropic/unlisted"), undefined, offers)).toBeNull();
    expect(troubleOf(session("house/llama", { runtime: "echo" }), undefined, offers)).toBeNull();
    expect(troubleOf(session("house/llama"), undefined, [])).toBeNull();
  });

  it("names the model that stopped working, what to do, and what to send again", () => {
    expect(troubleOf(session("anthropic/sonnet"), failed("model_unauthorized"), offers)).toEqual({
      title: "anthropic/sonnet is not working",
      text: "Do this.",
      promptId: "pmt_1",
    });
    expect(troubleOf(session(null), failed("model_quota_exhausted"), offers)?.title).toBe(
      "The model is not working",
    );
  });

  it("blames no model for another failure, and offers nobody else's words to be sent again", () => {
    expect(
      troubleOf(session("anthropic/sonnet"), failed("no_matching_runner"), offers)?.title,
    ).toBe("The last turn failed");
    const wakeUp = failed("model_unauthorized", "system");
    expect(troubleOf(session("anthropic/sonnet"), wakeUp, offers)?.promptId).toBeNull();
  });

  it("warns before the next prompt that the model cannot be used", () => {
    expect(troubleOf(session("house/llama"), undefined, offers)?.text).toBe(
      "house does not answer. Start it.",
    );
    expect(troubleOf(session("gone/model"), undefined, offers)?.text).toMatch(/set up gone again/);
  });
});
