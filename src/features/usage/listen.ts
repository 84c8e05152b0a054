/** Counts usage from kernel events. */
import type { KernelEvent, Listener, SessionRow, Work } from "#engine/index.ts";
import { findPinned } from "#features/personas/index.ts";
import { addUsage } from "./queries.ts";
import { type Amounts, SUMMED } from "./schema.ts";

type EventOf<T extends KernelEvent["type"]> = Extract<KernelEvent, { type: T }>;

const MAX_MODEL_CHARS = 200;
const NOTHING = Object.fromEntries(SUMMED.map((name) => [name, 0])) as unknown as Amounts;

export const listen: Listener = async (work, event) => {
  if (event.type === "setting_changed" || event.type === "session_missing") return;
  if (event.type === "records_deleted") return;
  const { row } = event.session;
  switch (event.type) {
    case "model_called":
      return add(work, row, event.call.model, modelAmounts(event));
    case "call_ended": {
      const toolMs = amount(event.call.durationMs);
      return add(work, row, row.model ?? "", { tool_calls: 1, tool_ms: toolMs });
    }
    case "prompt_settled":
      if (event.run === null) return;
      return add(work, row, row.model ?? "", { turns: 1, ...settledAmounts(event.run) });
    default:
      return;
  }
};

function modelAmounts({ call }: EventOf<"model_called">): Partial<Amounts> {
  return {
    requests: 1,
    input_tokens: amount(call.inputTokens),
    cached_input_tokens: amount(call.cachedInputTokens),
    output_tokens: amount(call.outputTokens),
    reasoning_tokens: amount(call.reasoningTokens),
    model_ms: amount(call.durationMs),
    ...price(call.costMicros),
  };
}

/** Our own agent and the model gateway report each request; other runtimes report only totals at the end. */
function settledAmounts(run: NonNullable<EventOf<"prompt_settled">["run"]>): Partial<Amounts> {
  const isCounted =
    run.runtime === "native" || run.metered_fence > 0 || run.input_tokens + run.output_tokens === 0;
  if (isCounted) return {};
  return {
    requests: 1,
    input_tokens: amount(run.input_tokens),
    output_tokens: amount(run.output_tokens),
    ...price(run.cost_micros),
  };
}

function price(costMicros: number | null): Partial<Amounts> {
  return costMicros === null ? { unpriced_requests: 1 } : { cost_micros: amount(costMicros) };
}

/** Bounds a reported number: a provider may report anything. */
function amount(value: number): number {
  return Number.isFinite(value) && value > 0 ? Math.min(Math.round(value), 1e12) : 0;
}

async function add(
  work: Work,
  session: SessionRow,
  model: string,
  amounts: Partial<Amounts>,
): Promise<void> {
  await addUsage(work.tx, {
    session_id: session.id,
    model: model.slice(0, MAX_MODEL_CHARS),
    day: new Date(work.now).toISOString().slice(0, "YYYY-MM-DD".length),
    org_id: session.org_id,
    user_id: session.owner_id ?? "",
    root_session_id: session.root_session_id,
    persona: (await findPinned(work.tx, session))?.slug ?? "",
    ...NOTHING,
    ...amounts,
  });
}
