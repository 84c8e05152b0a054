/** API contract of parents and children: the events of a parent's inbox, and the routes. */
import * as z from "zod";
import { apiRoute } from "#protocol/api-route.ts";
import { WORKER_EVENT_TYPES } from "#protocol/notices/notices.ts";
import { lastErrorSchema, sessionWaitSchema } from "#protocol/sessions.ts";

export type { WorkerEventPayload, WorkerEventType } from "#protocol/notices/notices.ts";

export const inboxItemSchema = z
  .object({
    id: z.string(),
    type: z.enum(WORKER_EVENT_TYPES),
    workerId: z.string(),
    workerName: z.string(),
    at: z.iso.datetime(),
    delivered: z.boolean(),
    payload: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "InboxItem" });
export type InboxItem = z.infer<typeof inboxItemSchema>;

export const PLAN_STATES = [
  /** The session needs no plan. */
  "none",
  /** The session has to present a plan. */
  "required",
  /** A plan waits for a decision. */
  "pending",
  "approved",
  /** The plan was sent back with changes to make. */
  "revise",
  "rejected",
  "expired",
] as const;

export const childSchema = z
  .object({
    sessionId: z.string(),
    title: z.string().nullable(),
    lifecycle: z.string(),
    activity: z.string(),
    /** Reason why the session waits; null if nothing holds it up. */
    waitingFor: sessionWaitSchema.nullable(),
    status: z.string(),
    /** Error of the last turn; null if the turn did not fail. */
    lastError: lastErrorSchema.nullable(),
    persona: z.string().nullable(),
    personaVersion: z.number().int().nullable(),
    model: z.string().nullable(),
    /** State in the words of supervision. */
    state: z.enum(["streaming", "idle", "cold"]),
    /** Newest entry of its transcript, in one line. */
    doing: z.string().nullable(),
    repo: z.string().nullable(),
    branch: z.string().nullable(),
    changedFiles: z.number().int().nullable(),
    /** Cost in micro-units; null if a part of it is unknown. */
    cost: z.number().int().nullable(),
    messages: z.number().int(),
    /** True if the session may change nothing until a plan is approved. */
    requirePlanApproval: z.boolean(),
    planState: z.enum(PLAN_STATES),
    lastActivityAt: z.iso.datetime(),
  })
  .meta({ id: "Child" });
export type Child = z.infer<typeof childSchema>;

const childrenOverviewSchema = z
  .object({
    items: z.array(childSchema),
    /** Number of children that are not listed. */
    more: z.number().int(),
    /** Cost of the parent and all its children in micro-units; null if a part of it is unknown. */
    treeCost: z.number().int().nullable(),
  })
  .meta({ id: "Family" });
export type ChildrenOverview = z.infer<typeof childrenOverviewSchema>;

const TAG = "Sessions";

export const delegationApi = {
  children: apiRoute({
    method: "get",
    path: "/api/sessions/{id}/children",
    summary: "The session's children: live ones first, then the newest, with the cost of the tree",
    tag: TAG,
    response: childrenOverviewSchema,
  }),
  detach: apiRoute({
    method: "post",
    path: "/api/sessions/{id}/detach",
    summary: "Detach the session from its parent; the parent is notified",
    tag: TAG,
    response: z.object({ sessionId: z.string(), detached: z.literal(true) }),
  }),
};
