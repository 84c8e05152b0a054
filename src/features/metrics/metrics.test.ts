import { afterEach, describe, expect, it } from "vitest";
import { modelCall, startWorld, type World } from "#features/testing/index.ts";
import type { ModelCallItem } from "#protocol/events.ts";
import type { MetricFamily } from "./contract.ts";
import { DurationHistogram, LabelledCounter } from "./counters.ts";
import { createTurnMetrics } from "./index.ts";

let world: World | undefined;
afterEach(async () => {
  await world?.stop();
  world = undefined;
});

async function start() {
  const metrics = createTurnMetrics();
  world = await startWorld([metrics.feature]);
  const samples = (name: string) => valuesOf(metrics.families().find((one) => one.name === name));
  return { world, samples };
}

/** Values by label, or by suffix and bound for a histogram. */
function valuesOf(family: MetricFamily | undefined): Record<string, number> {
  const entries = family?.samples.map(({ suffix = "", labels = {}, value }) => {
    return [suffix + Object.values(labels).join(), value] as const;
  });
  return Object.fromEntries(entries ?? []);
}

describe("metrics of turns", () => {
  it("count outcomes, codes and durations of what was committed", async () => {
    const { world, samples } = await start();
    const id = await world.createSession();
    const first = await world.startTurn(id);
    world.clock.advance(4_000);
    await first.end("done");
    const second = await world.startTurn(id);
    await second.journal([], {
      settle: { outcome: "failed", error: { code: "model_silent", message: "m" } },
    });
    expect(samples("muster_turns_total")).toEqual({ completed: 1, failed: 1 });
    expect(samples("muster_turns_failed_total")).toEqual({ model_silent: 1 });
    expect(samples("muster_turn_seconds")).toMatchObject({
      "_bucket0.01": 1,
      "_bucket2.5": 1,
      _bucket5: 2,
      "_bucket+Inf": 2,
      _sum: 4,
      _count: 2,
    });
    expect(samples("muster_turn_wait_seconds")).toMatchObject({ _count: 2, _sum: 0 });
  });

  it("count lost attempts by reason", async () => {
    const { world, samples } = await start();
    const turn = await world.startTurn(await world.createSession());
    await turn.release();
    await (await world.nextTurn()).end("done");
    expect(samples("muster_runs_lost_total")).toEqual({ released: 1 });
  });

  it("count what models were asked and what it cost", async () => {
    const { world, samples } = await start();
    const turn = await world.startTurn(await world.createSession());
    const call = modelCall() as ModelCallItem;
    const { model, inputTokens, costMicros } = call;
    await turn.journal([call, { ...call, entryId: "ent_2", costMicros: null }]);
    await turn.end("done");
    const dollars = (costMicros ?? 0) / 1_000_000;
    expect(dollars).toBeGreaterThan(0);
    expect(samples("muster_model_requests_total")).toEqual({ [model]: 2 });
    expect(samples("muster_model_input_tokens_total")).toEqual({ [model]: 2 * inputTokens });
    expect(samples("muster_model_cost_dollars_total")).toEqual({ [model]: dollars });
    expect(samples("muster_model_unpriced_requests_total")).toEqual({ [model]: 1 });
  });
});

describe("a counter", () => {
  it("keeps a bounded number of label values, whatever others send", () => {
    const counter = new LabelledCounter("n", "h", "model");
    for (let n = 0; n < 10_000; n++) counter.add(`model-${n}`);
    const values = valuesOf(counter.family());
    expect(Object.keys(values)).toHaveLength(101);
    expect(values.other).toBe(9_900);
    counter.add("model-3", 2);
    expect(valuesOf(counter.family())["model-3"]).toBe(3);
  });
});

describe("a histogram", () => {
  it("counts each duration in every bucket that reaches it", () => {
    const histogram = new DurationHistogram("n", "h");
    for (const ms of [5, 10, 11, 100_000_000]) histogram.observe(ms);
    expect(valuesOf(histogram.family())).toMatchObject({
      "_bucket0.01": 2,
      "_bucket0.05": 3,
      _bucket7200: 3,
      "_bucket+Inf": 4,
      _count: 4,
    });
  });
});
