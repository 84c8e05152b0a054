/** Supervisor mode on the wire: its routes, its refusals and the names of its tools. */
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

/** Why this server has no supervisor mode. */
export const DISABLED_REASONS = ["orchestration_disabled", "minimal_ui_disabled"] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/** Every refusal of supervisor mode, by the kind that surfaces translate. */
export const REFUSAL_KINDS = {
  orchestration_disabled: "forbidden",
  minimal_ui_disabled: "forbidden",
  /** Somebody who may look at the session, and does not own it: its agent, or an admin it was opened to. */
  not_owner: "forbidden",
  depth_limit_exceeded: "conflict",
  fanout_limit_exceeded: "limit",
  /** A session of yours that may have no workers until its supervisor mode is enabled. */
  supervisor_mode_off: "conflict",
  /** A worker was to work in another repository or folder than its supervisor. */
  different_project: "conflict",
  /** Missing, not yours, or no supervisor. */
  supervisor_not_found: "not_found",
  /** Missing, or not yours. */
  worker_not_found: "not_found",
  worker_already_linked: "conflict",
  /** A session of yours that is not this supervisor's. */
  worker_not_linked: "conflict",
  /** It was put away or ended, and cannot do what was asked. */
  worker_not_live: "conflict",
} as const;
export type SupervisionRefusal = keyof typeof REFUSAL_KINDS;

export const orchestrationConfigSchema = z
  .object({
    available: z.boolean(),
    disabledReason: z.enum(DISABLED_REASONS).nullable(),
    maxWorkersPerSupervisor: z.number().int(),
    maxDepth: z.number().int(),
    /** What a session gets when supervisor mode is enabled for it; none when it cannot be. */
    tools: z.array(z.string()),
  })
  .meta({ id: "OrchestrationConfig" });
export type OrchestrationConfig = z.infer<typeof orchestrationConfigSchema>;

export const orchestrationRoleSchema = z
  .object({
    sessionId: z.string(),
    role: z.enum(["supervisor", "worker", "standalone"]),
    /** Whose worker it is. */
    supervisorId: z.string().nullable(),
    supervisorName: z.string().nullable(),
    /** A worker that was begun with a summary of what its supervisor knew. */
    handoff: z.boolean(),
    /** Whether supervisor mode can be enabled now. */
    mayEnable: z.boolean(),
    workers: z.number().int(),
    liveWorkers: z.number().int(),
    /** Events that its agent has not been told of. */
    pending: z.number().int(),
  })
  .meta({ id: "OrchestrationRole" });
export type OrchestrationRole = z.infer<typeof orchestrationRoleSchema>;

export const workerSchema = z
  .object({
    workerId: z.string(),
    name: z.string(),
    /** `cold`: asleep, archived or ended. */
    state: z.enum(["streaming", "idle", "cold"]),
    lifecycle: z.string(),
    activity: z.string(),
    /** Why it does not go on; null when nothing holds it up. */
    waitingFor: sessionWaitSchema.nullable(),
    /** Why its last turn failed; null when that did not fail. */
    lastError: lastErrorSchema.nullable(),
    persona: z.string().nullable(),
    personaVersion: z.number().int().nullable(),
    model: z.string().nullable(),
    handoff: z.boolean(),
    /** What it is doing, in one line. */
    doing: z.string().nullable(),
    branch: z.string().nullable(),
    changedFiles: z.number().int().nullable(),
    /** In micro-units; null when a part of it is not known. */
    cost: z.number().int().nullable(),
    messages: z.number().int(),
    /** It changes nothing until a plan of its own is approved. */
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
