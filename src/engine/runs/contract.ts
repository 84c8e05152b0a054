/** HTTP routes of runs and runners: paths, inputs and answers. */
import * as z from "zod";
import { line } from "#base/text/text-schemas.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { modelCapabilitySchema } from "#protocol/models.ts";
import { pageOf, pageQuery } from "#protocol/page.ts";
import { databaseUseSchema } from "#protocol/reports/database-use.ts";
import {
  EXECUTION_MODES,
  RUN_TYPES,
  requirementsSchema,
  runnerSchema,
  runSchema,
} from "#protocol/runs.ts";
import { MAX_PROMPT_CHARS } from "#protocol/sessions.ts";

const SYNC_DEFAULT_MS = 60_000;
const SYNC_MAX_MS = 600_000;

const oneRun = z.object({ run: runSchema });
const oneRunner = z.object({ runner: runnerSchema });
const nothing = z.strictObject({});

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
    demands: requirementsSchema.default({}),
  })
  .refine(
    (body) => (body.prompt === undefined) !== (body.parameters === undefined),
    "give either `prompt` or `parameters`",
  )
  .refine(
    (body) => JSON.stringify(body.parameters ?? null).length <= MAX_PROMPT_CHARS,
    `parameters may have at most ${MAX_PROMPT_CHARS} characters`,
  );

const RUN = "/api/runs/{id}";

export const runsApi = {
  create: apiRoute({
    method: "post",
    path: "/api/runs",
    summary: "Start a run; `sync` waits until it ends, up to timeoutMs, then answers 202",
    tag: "Runs",
    body: newRun,
    status: 201,
    otherStatuses: [202],
    takesIdempotencyKey: true,
    response: oneRun,
  }),
  list: apiRoute({
    method: "get",
    path: "/api/runs",
    summary: "Runs of a session, newest first",
    tag: "Runs",
    query: z.strictObject({ session: line(200), ...pageQuery }),
    response: pageOf(runSchema),
  }),
  get: apiRoute({ method: "get", path: RUN, summary: "One run", tag: "Runs", response: oneRun }),
  result: apiRoute({
    method: "get",
    path: `${RUN}/result`,
    summary: "The result of a run; refused until it has ended",
    tag: "Runs",
    response: z.object({ run: runSchema, result: z.string().nullable() }),
  }),
  stop: apiRoute({
    method: "post",
    path: `${RUN}/stop`,
    summary: "Stop a run",
    tag: "Runs",
    body: nothing,
    response: oneRun,
  }),
};

const RUNNER = "/api/runners/{id}";

export const runnersApi = {
  list: apiRoute({
    method: "get",
    path: "/api/runners",
    summary: "The machines that work for you",
    tag: "Runners",
    response: pageOf(runnerSchema),
  }),
  runtimes: apiRoute({
    method: "get",
    path: "/api/runtimes",
    summary: "Agent programs that sessions can use",
    tag: "Runners",
    response: pageOf(
      z.object({ name: z.string(), available: z.boolean(), reason: z.string().nullable() }),
    ),
  }),
  models: apiRoute({
    method: "get",
    path: "/api/models",
    summary: "Models that sessions can use, and what the others lack",
    tag: "Models",
    response: pageOf(modelCapabilitySchema),
  }),
  disk: apiRoute({
    method: "get",
    path: "/api/disk",
    summary: "The disk space of the database (admins)",
    tag: "Runners",
    response: z.object({ database: databaseUseSchema.nullable() }),
  }),
  delete: apiRoute({
    method: "delete",
    path: RUNNER,
    summary: "Forget a runner and revoke its token",
    tag: "Runners",
    response: z.object({}),
  }),
  allowUnsandboxed: apiRoute({
    method: "post",
    path: `${RUNNER}/unsandboxed`,
    summary:
      "Let agents work on this machine without a sandbox until it has one (an admin or the machine's owner, signed in)",
    tag: "Runners",
    body: nothing,
    response: oneRunner,
  }),
  requireSandbox: apiRoute({
    method: "delete",
    path: `${RUNNER}/unsandboxed`,
    summary: "Revoke that consent; commands running without a sandbox end at once",
    tag: "Runners",
    response: oneRunner,
  }),
  lookForSandbox: apiRoute({
    method: "post",
    path: `${RUNNER}/look`,
    summary: "Ask the machine to check for a sandbox again; the list of runners shows the result",
    tag: "Runners",
    body: nothing,
    response: oneRunner,
  }),
};
