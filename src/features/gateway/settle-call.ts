/** Counts an admitted request exactly once, by its server or by the sweep. */
import { command, type Engine, type Sweep } from "#engine/index.ts";
import { findRun, findRunAgain, meterModelCall } from "#engine/runs/index.ts";
import { type Metered, unanswered } from "./meter/usage-meter.ts";
import type { GatewayParts, OpenedCall } from "./open-call.ts";
import { listAbandoned, removeCall } from "./queries.ts";

export interface CallEnd {
  /** Null: the provider refused the request or could not be reached, so nothing was used. */
  metered: Metered | null;
  durationMs: number;
}

export function settleCall(
  { engine, price }: Pick<GatewayParts, "engine" | "price">,
  call: OpenedCall,
  { metered, durationMs }: CallEnd,
): Promise<void> {
  return command(engine, async (work) => {
    const session = await work.session(call.sessionId);
    if (!(await removeCall(work.tx, call.id)) || !metered || !session) return;
    const found = await findRun(work.tx, call.runId);
    const run = found && (await findRunAgain(work.tx, found));
    if (!run) return;
    const { usage, isEstimated, stopReason } = metered;
    const { cacheWriteTokens: _written, cacheHourTokens: _kept, ...tokens } = usage;
    await meterModelCall(work, session, run, {
      type: "model_call",
      entryId: call.id,
      model: call.model,
      ...tokens,
      ...price(call.model, usage),
      durationMs: Math.max(0, Math.round(durationMs)),
      stopReason,
      ...(isEstimated ? { estimated: true } : {}),
    });
  });
}

/** The surface ends a request after this long; clocks may differ by the margin. */
const MAX_CALL_MS = 60 * 60_000;
const MARGIN_MS = 10 * 60_000;
const BATCH = 100;

/** Requests whose server has died: the input is counted, the output is unknown. */
export function abandonedCalls(price: GatewayParts["price"]): Sweep {
  return {
    name: "gateway-calls",
    everyMs: 10_000,
    async run(engine, now) {
      const { serverId, store } = engine;
      // With SQLite only one server runs at a time, so another's requests ended with it.
      const anyBefore = now - MAX_CALL_MS - MARGIN_MS;
      const othersBefore = store.dialect === "sqlite" ? now + MARGIN_MS : anyBefore;
      const filter = { serverId, othersBefore, anyBefore, limit: BATCH };
      const rows = await store.read((reader) => listAbandoned(reader, filter));
      for (const row of rows) await settleAbandoned(engine, price, row);
    },
  };
}

type AbandonedCall = Awaited<ReturnType<typeof listAbandoned>>[number];

function settleAbandoned(
  engine: Engine,
  price: GatewayParts["price"],
  row: AbandonedCall,
): Promise<void> {
  const { id, session_id, run_id, model, request_bytes } = row;
  const call = { id, sessionId: session_id, runId: run_id, model, requestBytes: request_bytes };
  const end = { metered: unanswered(request_bytes), durationMs: 0 };
  return settleCall({ engine, price }, call, end);
}
