import * as z from "zod";
import { line } from "#base/text-schemas.ts";
import type { Kernel, Principal } from "#engine/index.ts";
import { pageOf, pageQuery } from "#protocol/page.ts";
import { demandsSchema, EXECUTION_MODES, RUN_TYPES, type Run, runSchema } from "#protocol/runs.ts";
import { MAX_PROMPT_CHARS } from "#protocol/sessions.ts";
import { type App, idempotencyOf, principalOf } from "../app.ts";
import { endpoint } from "../endpoint.ts";
import { requireId } from "../input.ts";
import type { StreamSlots } from "../stream-slots.ts";

const TAG = "Runs";
const one = z.object({ run: runSchema });
const SYNC_DEFAULT_MS = 60_000;
const SYNC_MAX_MS = 600_000;
/** A settlement that was announced while nobody listened is found by looking again. */
const LOOK_EVERY_MS = 2_000;

const newRun = z
  .strictObject({
    type: z.enum(RUN_TYPES),
    sessionId: line(200).optional(),
    agentName: line(200).optional(),
    prompt: z.string().min(1).max(MAX_PROMPT_CHARS).optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    title: line(300).optional(),
    runtime: line(100).min(1).optional(),
    model: line(200).min(1).optional(),
    projectDir: line(4_096).optional(),
    parentSessionId: line(200).optional(),
    executionMode: z.enum(EXECUTION_MODES).default("async_poll"),
    timeoutMs: z.number().int().min(1).max(SYNC_MAX_MS).default(SYNC_DEFAULT_MS),
    demands: demandsSchema.default({}),
  })
  .refine(
    (body) => (body.prompt === undefined) !== (body.parameters === undefined),
    "give either `prompt` or `parameters`",
  )
  .refine(
    (body) => JSON.stringify(body.parameters ?? null).length <= MAX_PROMPT_CHARS,
    `parameters may have at most ${MAX_PROMPT_CHARS} characters`,
  );

export function runRoutes(app: App, kernel: Kernel, streams: StreamSlots): void {
  const { runs } = kernel;
  endpoint(
    app,
    {
      method: "post",
      path: "/api/runs",
      summary: "Run something; `sync` waits for its end, up to timeoutMs, then answers 202",
      tag: TAG,
      body: newRun,
      status: 201,
      otherStatuses: [202],
      takesIdempotencyKey: true,
      response: one,
    },
    async ({ c, body }) => {
      const { parameters, prompt, timeoutMs, ...rest } = body;
      const principal = principalOf(c);
      const isSync = body.executionMode === "sync";
      // Before anything is made: who cannot wait for it has asked for nothing.
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
    },
  );
  endpoint(
    app,
    {
      method: "get",
      path: "/api/runs",
      summary: "The runs of a session, newest first",
      tag: TAG,
      query: z.strictObject({ session: line(200), ...pageQuery }),
      response: pageOf(runSchema),
    },
    ({ c, query }) => runs.list(principalOf(c), query.session, query),
  );
  endpoint(
    app,
    { method: "get", path: "/api/runs/{id}", summary: "One run", tag: TAG, response: one },
    async ({ c }) => ({
      run: await runs.get(principalOf(c), requireId(c.req.param("id"), "run")),
    }),
  );
  endpoint(
    app,
    {
      method: "get",
      path: "/api/runs/{id}/result",
      summary: "What came of it; refused until it has ended",
      tag: TAG,
      response: z.object({ run: runSchema, result: z.string().nullable() }),
    },
    ({ c }) => runs.result(principalOf(c), requireId(c.req.param("id"), "run")),
  );
  endpoint(
    app,
    {
      method: "post",
      path: "/api/runs/{id}/stop",
      summary: "End it",
      tag: TAG,
      body: z.strictObject({}),
      response: one,
    },
    async ({ c }) => ({
      run: await runs.stop(principalOf(c), requireId(c.req.param("id"), "run")),
    }),
  );
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
      // Taken before looking, so that what is announced while looking is not missed.
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
