/**
 * Metrics of turns and models: turns settled and lost, and costs, since this server started. Each server
 * counts the commands it executed itself, so sums over all servers are right.
 */
import type { Feature, KernelEvent, Work } from "#engine/index.ts";
import type { MetricFamily } from "./contract.ts";
import { DurationHistogram, LabelledCounter } from "./counters.ts";

export interface TurnMetrics {
  feature: Feature;
  families(): MetricFamily[];
}

const MICROS_PER_DOLLAR = 1_000_000;

export function createTurnMetrics(): TurnMetrics {
  const counters = createCounters();
  return {
    feature: {
      name: "metrics",
      listeners: [
        async (work, event) => {
          const count = counting(counters, event);
          // A transaction may run twice, or fail; only committed events count.
          if (count) afterCommit(work, count);
        },
      ],
    },
    families: () => Object.values(counters).map((counter) => counter.family()),
  };
}

function createCounters() {
  return {
    turns: new LabelledCounter("muster_turns_total", "Turns that ended, by outcome", "outcome"),
    failed: new LabelledCounter(
      "muster_turns_failed_total",
      "Turns that failed, by error code",
      "code",
    ),
    lost: new LabelledCounter(
      "muster_runs_lost_total",
      "Attempts taken from their runner, by reason",
      "reason",
    ),
    waited: new DurationHistogram(
      "muster_turn_wait_seconds",
      "Time from a turn being ready to a runner claiming it",
    ),
    lasted: new DurationHistogram(
      "muster_turn_seconds",
      "Time from a prompt being accepted to its turn ending",
    ),
    requests: new LabelledCounter("muster_model_requests_total", "Requests to models", "model"),
    inputTokens: new LabelledCounter(
      "muster_model_input_tokens_total",
      "Tokens sent to models, cached ones included",
      "model",
    ),
    outputTokens: new LabelledCounter(
      "muster_model_output_tokens_total",
      "Tokens written by models",
      "model",
    ),
    cost: new LabelledCounter(
      "muster_model_cost_dollars_total",
      "Cost of requests with a known price, in US dollars",
      "model",
    ),
    unpriced: new LabelledCounter(
      "muster_model_unpriced_requests_total",
      "Requests to models without a known price",
      "model",
    ),
  };
}

type Counters = ReturnType<typeof createCounters>;

function afterCommit(work: Work, count: () => void): void {
  work.tx.afterCommit(count);
}

/** Reads the numbers at once, because rows change until the transaction ends. */
function counting(counters: Counters, event: KernelEvent): (() => void) | undefined {
  switch (event.type) {
    case "prompt_settled":
      return countTurn(counters, event);
    case "run_lost": {
      const { reason } = event;
      return () => counters.lost.add(reason);
    }
    case "model_called":
      return countModelCall(counters, event);
    default:
      return undefined;
  }
}

type EventOf<T extends KernelEvent["type"]> = Extract<KernelEvent, { type: T }>;

function countTurn(
  counters: Counters,
  { prompt, run }: EventOf<"prompt_settled">,
): (() => void) | undefined {
  if (run === null) return undefined;
  const { outcome, error_code: code } = prompt;
  const waitedMs = run.claimed_at === null ? null : run.claimed_at - run.ready_at;
  const lastedMs = (prompt.settled_at ?? prompt.accepted_at) - prompt.accepted_at;
  return () => {
    counters.turns.add(outcome ?? "unknown");
    if (outcome === "failed") counters.failed.add(code ?? "unknown");
    if (waitedMs !== null) counters.waited.observe(waitedMs);
    counters.lasted.observe(lastedMs);
  };
}

function countModelCall(counters: Counters, { call }: EventOf<"model_called">): () => void {
  const { model, inputTokens, outputTokens, costMicros } = call;
  return () => {
    counters.requests.add(model);
    counters.inputTokens.add(model, inputTokens);
    counters.outputTokens.add(model, outputTokens);
    if (costMicros === null) counters.unpriced.add(model);
    else counters.cost.add(model, costMicros / MICROS_PER_DOLLAR);
  };
}
