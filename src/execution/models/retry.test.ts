import { describe, expect, it } from "vitest";
import { FakeClock } from "#base/clock.ts";
import { request } from "./fake-request.ts";
import type { ModelEvent, ModelFailure, ModelProvider } from "./model.ts";
import { withRetries } from "./retry.ts";

const BUSY: ModelFailure = { code: "model_unavailable", message: "busy", retryable: true };
const ANSWER: ModelEvent[] = [
  { type: "text", part: 0, text: "hello" },
  {
    type: "end",
    response: { parts: [{ type: "text", text: "hello" }], stopReason: "end", usage: null },
  },
];
const fails = (failure: ModelFailure): ModelEvent[] => [
  { type: "text", part: 0, text: "hel" },
  { type: "failed", failure },
];

/** A provider with one list of events for each request; the last is used for ever. */
function scripted(...attempts: ModelEvent[][]) {
  let asked = 0;
  const provider: ModelProvider = {
    name: "scripted",
    async *stream() {
      yield* attempts[Math.min(asked++, attempts.length - 1)] ?? [];
    },
  };
  return { provider, asked: () => asked };
}

/** A clock that advances exactly by each sleep, and records it. */
class JumpingClock extends FakeClock {
  readonly slept: number[] = [];

  override async sleep(delayMs: number): Promise<void> {
    this.slept.push(delayMs);
    this.advance(delayMs);
  }
}

async function run(provider: ModelProvider, options: Parameters<typeof withRetries>[1] = {}) {
  const clock = new JumpingClock();
  const events: ModelEvent[] = [];
  for await (const event of withRetries(provider, { clock, random: () => 1, ...options }).stream(
    request(""),
  )) {
    events.push(event);
  }
  return { events, slept: clock.slept };
}

describe("withRetries", () => {
  it("changes nothing when all goes well", async () => {
    expect((await run(scripted(ANSWER).provider)).events).toEqual(ANSWER);
  });

  it("asks again, and retracts the text shown so far", async () => {
    const { events, slept } = await run(scripted(fails(BUSY), ANSWER).provider);
    const restart = { attempt: 1, delayMs: 500, failure: BUSY };
    expect(events).toEqual([
      { type: "text", part: 0, text: "hel" },
      { type: "restart", ...restart },
      ...ANSWER,
    ]);
    expect(slept).toEqual([500]);
  });

  it("waits longer each time, and gives up after six attempts with the last failure", async () => {
    const { provider, asked } = scripted(fails(BUSY));
    const { events, slept } = await run(provider);
    expect(slept).toEqual([500, 1000, 2000, 4000, 8000]);
    expect(asked()).toBe(6);
    expect(events.at(-1)).toEqual({ type: "failed", failure: BUSY });
  });

  it("never waits longer than 30 s by itself, and spreads the waits", async () => {
    const long = await run(scripted(fails(BUSY)).provider, { attempts: 10 });
    expect(Math.max(...long.slept)).toBe(30_000);
    expect((await run(scripted(fails(BUSY)).provider, { random: () => 0.1 })).slept[0]).toBe(50);
    expect((await run(scripted(fails(BUSY)).provider, { random: () => 0 })).slept[0]).toBe(0);
  });

  it("waits at least as long as the provider asks", async () => {
    const limited = { ...BUSY, retryAfterMs: 7000 };
    expect((await run(scripted(fails(limited), ANSWER).provider)).slept).toEqual([7000]);
  });

  it("hands on a wait that is too long to sit through", async () => {
    const limited = { ...BUSY, code: "model_quota_exhausted", retryAfterMs: 3_600_000 };
    const { provider, asked } = scripted(fails(limited));
    const { events, slept } = await run(provider);
    expect(events.at(-1)).toEqual({ type: "failed", failure: limited });
    expect(slept).toEqual([]);
    expect(asked()).toBe(1);
  });

  it("does not ask again what cannot succeed", async () => {
    const { provider, asked } = scripted(fails({ ...BUSY, retryable: false }));
    await run(provider);
    expect(asked()).toBe(1);
  });

  it("takes a stream without an end for a broken one", async () => {
    const { events } = await run(scripted([{ type: "text", part: 0, text: "x" }], ANSWER).provider);
    expect(events.map(({ type }) => type)).toEqual(["text", "restart", "text", "end"]);
  });

  it("does not count a server that is away against the provider", async () => {
    const away = fails({ ...BUSY, isServerAway: true });
    const times = 20;
    const { provider, asked } = scripted(...Array.from({ length: times }, () => away), ANSWER);
    const { events, slept } = await run(provider);
    expect(events.at(-1)).toEqual(ANSWER.at(-1));
    expect(asked()).toBe(times + 1);
    expect(Math.max(...slept)).toBe(3_000);
  });

  it("does not count streams that broke when the server went away", async () => {
    const restart = [
      fails({ ...BUSY, code: "model_stream_broken" }),
      fails({ ...BUSY, isServerAway: true }),
    ];
    const times = 10;
    const restarts = Array.from({ length: times }, () => restart).flat();
    const { events } = await run(scripted(...restarts, ANSWER).provider);
    expect(events.at(-1)).toEqual(ANSWER.at(-1));
  });

  it("gives up on a server that stays away for minutes", async () => {
    const failure = { ...BUSY, isServerAway: true };
    const { events, slept } = await run(scripted(fails(failure)).provider);
    expect(events.at(-1)).toEqual({ type: "failed", failure });
    expect(slept.reduce((sum, one) => sum + one, 0)).toBeGreaterThan(5 * 60_000);
  });

  it("asks again only when its turn may take a step", async () => {
    const { provider, asked } = scripted(fails(BUSY), ANSWER);
    const beforeRetry = () => Promise.reject(new Error("the lease is gone"));
    const { events } = await run(provider, { beforeRetry });
    expect(events.at(-1)).toEqual({ type: "failed", failure: BUSY });
    expect(asked()).toBe(1);
  });

  it("ends at once when it is aborted while it waits", async () => {
    const clock = new FakeClock();
    const abort = new AbortController();
    const { provider, asked } = scripted(fails(BUSY));
    const types: string[] = [];
    for await (const { type } of withRetries(provider, { clock, random: () => 1 }).stream(
      request("", { signal: abort.signal }),
    )) {
      types.push(type);
      if (type === "restart") setImmediate(() => abort.abort());
    }
    expect(types).toEqual(["text", "restart", "failed"]);
    expect(asked()).toBe(1);
  });
});
