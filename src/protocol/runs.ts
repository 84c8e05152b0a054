/** Runs and runners as clients see them. */
import * as z from "zod";
import { isoTime } from "./page.ts";
import { diskReportSchema } from "./reports/disk-report.ts";
import { sandboxReportSchema } from "./reports/sandbox-report.ts";
import { OUTCOMES } from "./sessions.ts";

export const RUN_STATES = [
  "pending",
  "claimed",
  "running",
  "gated",
  "stopping",
  "completed",
  "failed",
  "stopped",
] as const;
export type RunState = (typeof RUN_STATES)[number];
export const LIVE_RUN_STATES = [
  "pending",
  "claimed",
  "running",
  "gated",
  "stopping",
] as const satisfies RunState[];
export const RUN_TYPES = ["start_session", "resume_session"] as const;
export type RunType = (typeof RUN_TYPES)[number];
export const EXECUTION_MODES = ["sync", "async_poll", "async_callback"] as const;
export type ExecutionMode = (typeof EXECUTION_MODES)[number];

/** Requirements of a run for its runner. Every given requirement must hold; tags must be a subset. */
export const requirementsSchema = z.strictObject({
  hostname: z.string().max(255).optional(),
  projectDir: z.string().max(4096).optional(),
  profile: z.string().max(100).optional(),
  runtime: z.string().max(100).optional(),
  tags: z.array(z.string().max(100)).max(50).optional(),
});
export type RunnerRequirements = z.infer<typeof requirementsSchema>;

export const runSchema = z
  .object({
    id: z.string(),
    sessionId: z.string(),
    promptId: z.string(),
    thread: z.string(),
    type: z.enum(RUN_TYPES),
    state: z.enum(RUN_STATES),
    outcome: z.enum(OUTCOMES).nullable(),
    executionMode: z.enum(EXECUTION_MODES),
    runtime: z.string(),
    agentName: z.string().nullable(),
    demands: requirementsSchema,
    runnerId: z.string().nullable(),
    fence: z.number().int(),
    attempts: z.number().int(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    result: z.string().nullable(),
    createdAt: isoTime,
    claimedAt: isoTime.nullable(),
    startedAt: isoTime.nullable(),
    settledAt: isoTime.nullable(),
  })
  .meta({ id: "Run" });
export type Run = z.infer<typeof runSchema>;

export const runnerSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    hostname: z.string(),
    projectDir: z.string().nullable(),
    profile: z.string(),
    tags: z.array(z.string()),
    runtimes: z.array(z.string()),
    capacity: z.number().int(),
    state: z.enum(["online", "draining", "offline"]),
    /** False while the runner finds out which models it can use; until then it gets no work. */
    ready: z.boolean(),
    running: z.number().int(),
    /** Owner of the machine; null when it works for everybody. */
    ownerId: z.string().nullable(),
    /**
     * Sandbox of the runner's commands; `why` says what is missing. Null when the runner has not
     * reported.
     */
    sandbox: sandboxReportSchema
      .extend({
        /** Time of the last check. */
        at: isoTime.nullable(),
      })
      .nullable(),
    /** Last report of the runner, made about once a minute; null before its first report. */
    disk: diskReportSchema.extend({ at: isoTime }).nullable(),
    /** Consent to work without a sandbox on this machine. It counts only while there is no sandbox. */
    unsandboxed: z.object({ by: z.string(), at: isoTime }).nullable(),
    version: z.string(),
    lastSeenAt: isoTime.nullable(),
    createdAt: isoTime,
  })
  .meta({ id: "Runner" });
export type Runner = z.infer<typeof runnerSchema>;
