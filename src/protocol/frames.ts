/**
 * What a runner and a server say to each other, one JSON object a WebSocket message.
 *
 * The runner opens the socket and sends `register`. The server answers `registered` (or `refused`
 * and closes). From then on the server pushes `assign` while the runner has free places; the runner
 * streams `delta`s, appends `journal` batches and renews its leases. Frames with an `id` are
 * answered by exactly one frame with the same `id`. Every frame about a run carries its fence; a
 * stale fence changes nothing and is answered with `lost`.
 *
 * A new tool adds no frame: `tool` carries any of them.
 */
import * as z from "zod";
import { journalItemSchema, settlementSchema } from "./events.ts";
import { attachmentSchema, authorSchema } from "./sessions.ts";

/** A server serves this version and the one before it. */
export const RUNNER_PROTOCOL = 1;
export const LEASE_MS = 15_000;
export const RENEW_EVERY_MS = 5_000;
/** A runner starts no model or tool step when its last acknowledged renewal is older than this. */
export const STEP_FRESHNESS_MS = 10_000;

export const CANCEL_REASONS = ["stop", "steer", "interrupt", "timeout"] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];

const ID = z.string().regex(/^[\w:.@-]{1,200}$/, "an id");
const runRef = { run: ID, fence: z.number().int() };

export const runnerProfileSchema = z.object({
  name: z.string().min(1).max(200),
  hostname: z.string().min(1).max(255),
  folder: z.string().max(4096),
  profile: z.string().max(100),
  projectDir: z.string().max(4096).nullable(),
  tags: z.array(z.string().max(100)).max(100),
  runtimes: z.array(z.string().max(100)).max(100),
  capacity: z.number().int().min(1).max(10_000),
  version: z.string().max(100),
});
export type RunnerProfile = z.infer<typeof runnerProfileSchema>;

/** One earlier entry of the thread, or of this turn, as a runtime needs it to go on. */
export const historyItemSchema = z.object({
  seq: z.number().int(),
  role: z.enum(["user", "assistant", "system"]),
  item: z.union([
    journalItemSchema,
    z.object({ type: z.literal("prompt"), text: z.string(), author: authorSchema }),
  ]),
});
export type HistoryItem = z.infer<typeof historyItemSchema>;

/** All a runner needs to work one turn. */
export const assignmentSchema = z.object({
  ...runRef,
  attempt: z.number().int(),
  sessionId: z.string(),
  thread: z.string(),
  promptId: z.string(),
  content: z.string(),
  attachments: z.array(attachmentSchema),
  author: authorSchema,
  runtime: z.string(),
  model: z.string().nullable(),
  projectDir: z.string().nullable(),
  executorSessionId: z.string().nullable(),
  instructions: z.string().nullable(),
  /** What this turn has journaled before, in order: a runtime continues after it and repeats none of it. */
  journal: z.array(journalItemSchema),
});
export type Assignment = z.infer<typeof assignmentSchema>;

export const bindingSchema = z.object({
  executorSessionId: z.string().nullable(),
  executorType: z.string(),
  executorProfile: z.string().nullable(),
  projectDir: z.string().nullable(),
});
export type ExecutorBinding = z.infer<typeof bindingSchema>;

export const runnerFrameSchema = z.discriminatedUnion("op", [
  z.object({
    op: z.literal("register"),
    id: z.string(),
    protocol: z.number().int(),
    bootId: z.string(),
    profile: runnerProfileSchema,
    /** Runs this process still works on, after a lost connection. */
    holding: z.array(z.object(runRef)),
  }),
  z.object({ op: z.literal("renew"), id: z.string(), runs: z.array(z.object(runRef)) }),
  z.object({
    op: z.literal("journal"),
    id: z.string(),
    ...runRef,
    firstOrdinal: z.number().int(),
    items: z.array(journalItemSchema),
    bind: bindingSchema.optional(),
    settle: settlementSchema.optional(),
  }),
  z.object({
    op: z.literal("delta"),
    ...runRef,
    entryId: z.string(),
    kind: z.enum(["text", "reasoning", "tool_call"]),
    offset: z.number().int(),
    text: z.string(),
  }),
  z.object({
    op: z.literal("tool"),
    id: z.string(),
    ...runRef,
    callId: z.string(),
    name: z.string(),
    input: z.unknown(),
  }),
  z.object({
    op: z.literal("history"),
    id: z.string(),
    ...runRef,
    beforeSeq: z.number().int().nullable(),
    limit: z.number().int(),
  }),
  /** Gives a run back unharmed (drain): it is claimed again at once, and the attempt is not held against it. */
  z.object({ op: z.literal("release"), id: z.string(), ...runRef }),
  z.object({ op: z.literal("drain"), id: z.string() }),
]);
export type RunnerFrame = z.infer<typeof runnerFrameSchema>;

export type ServerFrame =
  | { op: "registered"; id: string; runnerId: string; serverBootId: string; lost: string[] }
  | { op: "refused"; id: string; code: string; message: string }
  | { op: "assign"; assignment: Assignment }
  | { op: "renewed"; id: string; lost: string[] }
  | { op: "journaled"; id: string; run: string; lastOrdinal: number }
  | { op: "lost"; id: string | null; run: string; fence?: number; code: string }
  | { op: "tool_result"; id: string; output: unknown; error: string | null }
  | { op: "history"; id: string; items: HistoryItem[] }
  | { op: "done"; id: string }
  | { op: "cancel"; run: string; fence: number; reason: CancelReason; graceMs: number };
