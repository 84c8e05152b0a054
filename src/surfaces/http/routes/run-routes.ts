import type { Kernel, Principal } from "#engine/index.ts";
import { runsApi } from "#engine/runs/contract.ts";
import type { Run } from "#protocol/runs.ts";
import { type App, idempotencyOf, principalOf } from "../app.ts";
import { endpoint } from "../endpoint.ts";
import { requireId } from "../input.ts";
import type { StreamSlots } from "../sockets/stream-slots.ts";

/** Interval of polling, for settlements that were announced while nobody listened. */
const LOOK_EVERY_MS = 2_000;

export function runRoutes(app: App, kernel: Kernel, streams: StreamSlots): void {
  const { runs } = kernel;
  endpoint(app, runsApi.create, async ({ c, body }) => {
    const { parameters, prompt, timeoutMs, ...rest } = body;
    const principal = principalOf(c);
    const isSync = body.executionMode === "sync";
    // Taken before anything is created: a caller who cannot wait creates nothing.
    const leave = isSync ? streams.enter("wait", c.get("caller")) : () => {};
    try {
      const run = await runs.create(
        principal,
        { ...rest, prompt: prompt ?? JSON.stringify(parameters) },
        idempotencyOf(c),
      );
      if (!isSync) return { run };
      const later = await waitForEnd(kernel, principal, run, timeoutMs, c.req.raw.signal);
      return c.json({ run: later }, later.outcome === null ? 202 : 201);
    } finally {
      leave();
    }
  });
  endpoint(app, runsApi.list, ({ c, query }) => runs.list(principalOf(c), query.session, query));
  endpoint(app, runsApi.get, async ({ c }) => ({
    run: await runs.get(principalOf(c), requireId(c.req.param("id"), "run")),
  }));
  endpoint(app, runsApi.result, ({ c }) =>
    runs.result(principalOf(c), requireId(c.req.param("id"), "run")),
  );
  endpoint(app, runsApi.stop, async ({ c }) => ({
    run: await runs.stop(principalOf(c), requireId(c.req.param("id"), "run")),
  }));
}

async function waitForEnd(
  kernel: Kernel,
  principal: Principal,
  run: Run,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Run> {
  const deadline = Date.now() + timeoutMs;
  let wake = () => {};
  const leave = kernel.engine.announcer.watchSession(run.sessionId, {
    appended: () => wake(),
    grown: () => wake(),
    delta: () => {},
  });
  const onAbort = () => wake();
  signal.addEventListener("abort", onAbort);
  try {
    for (;;) {
      // Subscribed before the read, so that no announcement during it is missed.
      const changed = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const current = await kernel.runs.get(principal, run.id);
      const leftMs = deadline - Date.now();
      if (current.outcome !== null || leftMs <= 0 || signal.aborted) return current;
      const timer = setTimeout(wake, Math.min(leftMs, LOOK_EVERY_MS));
      await changed;
      clearTimeout(timer);
    }
  } finally {
    leave();
    signal.removeEventListener("abort", onAbort);
  }
}
