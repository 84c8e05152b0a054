/** API contract of supervisor mode: routes, refusals and tool names. */
import * as z from "zod";
import { inboxItemSchema, PLAN_STATES } from "#features/delegation/contract.ts";
import { apiRoute } from "#protocol/api-route.ts";
import { lastErrorSchema, sessionWaitSchema } from "#protocol/sessions.ts";

export const SUPERVISOR_TOOLS = [
  "orchestrate_spawn_worker",
  "orchestrate_list_workers",
  "orchestrate_read_worker",
  "orchestrate_send_to_worker",
  "orchestrate_interrupt_worker",
  "orchestrate_kill_worker",
  "orchestrate_detach_worker",
  "orchestrate_read_inbox",
] as const;

/** Reasons why this server has no supervisor mode. */
export const DISABLED_REASONS = ["orchestration_disabled", "minimal_ui_disabled"] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Every refusal of supervisor mode, with the kind that surfaces translate. */
export const REFUSAL_KINDS = {
  orchestration_disabled: "forbidden",
  minimal_ui_disabled: "forbidden",
  /** The caller may read the session but does not own it: its agent, or an admin with access. */
  not_owner: "forbidden",
  depth_limit_exceeded: "conflict",
  fanout_limit_exceeded: "limit",
  /** Your session may have no workers until supervisor mode is enabled for it. */
  supervisor_mode_off: "conflict",
  /** The worker was requested in another repository or folder than its supervisor's. */
  different_project: "conflict",
  /** The session is missing, is not yours, or is no supervisor. */
  supervisor_not_found: "not_found",
  /** The session is missing or is not yours. */
  worker_not_found: "not_found",
  worker_already_linked: "conflict",
  /** Your session is not a worker of this supervisor. */
  worker_not_linked: "conflict",
  /** The worker is archived or ended, and cannot do what was requested. */
  worker_not_live: "conflict",
} as const;
export type SupervisionRefusal = keyof typeof REFUSAL_KINDS;

export const orchestrationConfigSchema = z
  .object({
    available: z.boolean(),
    disabledReason: z.enum(DISABLED_REASONS).nullable(),
    maxWorkersPerSupervisor: z.number().int(),
    maxDepth: z.number().int(),
    /** Tools that a session gets with supervisor mode; empty if the server has none. */
    tools: z.array(z.string()),
  })
  .meta({ id: "OrchestrationConfig" });
export type OrchestrationConfig = z.infer<typeof orchestrationConfigSchema>;

export const orchestrationRoleSchema = z
  .object({
    sessionId: z.string(),
    role: z.enum(["supervisor", "worker", "standalone"]),
    /** Supervisor of a worker. */
    supervisorId: z.string().nullable(),
    supervisorName: z.string().nullable(),
    /** True for a worker that started with a summary of its supervisor's context. */
    handoff: z.boolean(),
    /** True if supervisor mode can be enabled now. */
    mayEnable: z.boolean(),
    workers: z.number().int(),
    liveWorkers: z.number().int(),
    /** Events that its agent has not received. */
    pending: z.number().int(),
  })
  .meta({ id: "OrchestrationRole" });
export type OrchestrationRole = z.infer<typeof orchestrationRoleSchema>;

export const workerSchema = z
  .object({
    workerId: z.string(),
    name: z.string(),
    /** `cold`: hibernated, archived or ended. */
    state: z.enum(["streaming", "idle", "cold"]),
    lifecycle: z.string(),
    activity: z.string(),
    /** Reason why the worker waits; null if nothing holds it up. */
    waitingFor: sessionWaitSchema.nullable(),
    /** Error of the last turn; null if the turn did not fail. */
    lastError: lastErrorSchema.nullable(),
    persona: z.string().nullable(),
    personaVersion: z.number().int().nullable(),
    model: z.string().nullable(),
    handoff: z.boolean(),
    /** Newest entry of its transcript, in one line. */
    doing: z.string().nullable(),
    branch: z.string().nullable(),
    changedFiles: z.number().int().nullable(),
    /** Cost in micro-units; null if a part of it is unknown. */
    cost: z.number().int().nullable(),
    messages: z.number().int(),
    /** True if the worker may change nothing until a plan is approved. */
    requirePlanApproval: z.boolean(),
    planState: z.enum(PLAN_STATES),
    lastActivityAt: z.iso.datetime(),
  })
  .meta({ id: "Worker" });
export type Worker = z.infer<typeof workerSchema>;

const detachedSchema = z.object({ workerId: z.string(), detached: z.literal(true) });
const clearedSchema = z.object({ cleared: z.number().int() });

const TAG = "Orchestration";
const SESSION = "/api/orchestration/sessions/{id}";
const WORKER = `${SESSION}/workers/{workerId}` as const;
const oneWorker = z.object({ worker: workerSchema });

export const supervisionApi = {
  getConfig: apiRoute({
    method: "get",
    path: "/api/orchestration/config",
    summary: "Availability and limits of supervisor mode on this server",
    tag: TAG,
    response: orchestrationConfigSchema,
  }),
  get: apiRoute({
    method: "get",
    path: SESSION,
    summary: "The role of a session: supervisor, worker or standalone",
    tag: TAG,
    response: orchestrationRoleSchema,
  }),
  listWorkers: apiRoute({
    method: "get",
    path: `${SESSION}/workers`,
    summary: "The workers of a supervisor, with their state",
    tag: TAG,
    response: z.object({ items: z.array(workerSchema) }),
  }),
  readInbox: apiRoute({
    method: "get",
    path: `${SESSION}/inbox`,
    summary: "Delivered and pending notifications of a supervisor, newest first",
    tag: TAG,
    response: z.object({ items: z.array(inboxItemSchema) }),
  }),
  enable: apiRoute({
    method: "post",
    path: `${SESSION}/enable`,
    summary: "Make a session a supervisor; a running turn continues",
    tag: TAG,
    response: orchestrationRoleSchema,
  }),
  disable: apiRoute({
    method: "post",
    path: `${SESSION}/disable`,
    summary: "End supervisor mode: workers are detached and continue, the inbox is cleared",
    tag: TAG,
    response: orchestrationRoleSchema,
  }),
  clearInbox: apiRoute({
    method: "post",
    path: `${SESSION}/inbox/clear`,
    summary: "Clear a supervisor's inbox, including pending notifications",
    tag: TAG,
    response: clearedSchema,
  }),
  detachWorker: apiRoute({
    method: "post",
    path: `${WORKER}/detach`,
    summary: "Detach a worker from its supervisor, which is notified",
    tag: TAG,
    response: detachedSchema,
  }),
  killWorker: apiRoute({
    method: "post",
    path: `${WORKER}/kill`,
    summary: "End a worker without notifying its supervisor; it is kept for a week",
    tag: TAG,
    response: oneWorker,
  }),
  resumeWorker: apiRoute({
    method: "post",
    path: `${WORKER}/resume`,
    summary: "Resume a cold worker if its supervisor has a free place for it",
    tag: TAG,
    response: oneWorker,
  }),
};
