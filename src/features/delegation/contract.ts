/** Parents and children on the wire: the events a parent is told, and the routes. */
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
  /** It need not present one. */
  "none",
  /** It has to present one. */
  "required",
  /** It has presented one, which waits for a decision. */
  "pending",
  "approved",
  /** It was sent back. */
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
    /** Why it does not go on; null when nothing holds it up. */
    waitingFor: sessionWaitSchema.nullable(),
    status: z.string(),
    /** Why its last turn failed; null when that did not fail. */
    lastError: lastErrorSchema.nullable(),
    persona: z.string().nullable(),
    personaVersion: z.number().int().nullable(),
    model: z.string().nullable(),
    /** As a supervisor sees it. */
    state: z.enum(["streaming", "idle", "cold"]),
    /** What it is doing, in one line. */
    doing: z.string().nullable(),
    repo: z.string().nullable(),
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
  .meta({ id: "Child" });
export type Child = z.infer<typeof childSchema>;

const familySchema = z
  .object({
    items: z.array(childSchema),
    /** Children there are besides those that are listed. */
    more: z.number().int(),
    /** What the parent and all its children cost, in micro-units; null when a part of it is not known. */
    treeCost: z.number().int().nullable(),
  })
  .meta({ id: "Family" });
export type Family = z.infer<typeof familySchema>;

const TAG = "Sessions";

export const delegationApi = {
  children: apiRoute({
    method: "get",
    path: "/api/sessions/{id}/children",
    summary: "The session's children, live ones first, then the newest, with the cost of the tree",
    tag: TAG,
    response: familySchema,
  }),
  detach: apiRoute({
    method: "post",
    path: "/api/sessions/{id}/detach",
    summary: "Detach the session from its parent; the parent is notified",
    tag: TAG,
    response: z.object({ sessionId: z.string(), detached: z.literal(true) }),
  }),
};
