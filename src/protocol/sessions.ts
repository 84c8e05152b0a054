/** Sessions, prompts and transcripts as clients see them. Pure: loaded by every process and the browser. */
import * as z from "zod";
import { noticeSchema } from "./notices/notices.ts";
import { isoTime } from "./page.ts";

export const SESSION_KINDS = ["task", "review", "orchestrator", "org_orchestrator"] as const;
/** Runtimes without a model, for people who try things out. No agent may choose them. */
export const TRIAL_RUNTIMES: readonly string[] = ["echo", "scripted"];
export const LIFECYCLES = ["active", "hibernated", "archived", "terminated"] as const;
export const ACTIVITIES = [
  "working",
  "needs_you",
  "waiting",
  /** The last turn completed and nothing is queued. Orchestrators rest as `idle` instead. */
  "done",
  "idle",
  "asleep",
  "recovering",
  "failed",
  "unknown",
] as const;
/** Coarse status for run-oriented clients. */
export const SESSION_STATUSES = [
  "pending",
  "running",
  "stopping",
  "stopped",
  "finished",
  "error",
] as const;
/** State of a worker for its supervisor. */
export const WORKER_STATES = ["streaming", "idle", "cold"] as const;
/** Thread that every session has. */
export const MAIN_THREAD = "main";

/** Longest text of one prompt. */
export const MAX_PROMPT_CHARS = 1_000_000;

export const QUEUE_MODES = ["followup", "collect", "steer", "interrupt"] as const;
export const PROMPT_STATES = ["collecting", "queued", "running", "gated", "settled"] as const;
export const OUTCOMES = [
  "completed",
  "failed",
  "aborted",
  "superseded",
  "merged",
  "withdrawn",
] as const;
export const ENTRY_KINDS = [
  "text",
  "reasoning",
  "tool_call",
  "tool_result",
  "notice",
  "prompt",
] as const;
export const AUTHOR_KINDS = ["user", "session", "channel", "system"] as const;

export type SessionKind = (typeof SESSION_KINDS)[number];
export type Lifecycle = (typeof LIFECYCLES)[number];

/** True for the orchestrator of a person or of an org. */
export function isOrchestrator<Row extends { kind: SessionKind }>(
  row: Row,
): row is Row & { kind: "orchestrator" | "org_orchestrator" } {
  return row.kind === "orchestrator" || row.kind === "org_orchestrator";
}

export type Activity = (typeof ACTIVITIES)[number];
export type SessionStatus = (typeof SESSION_STATUSES)[number];
export type WorkerState = (typeof WORKER_STATES)[number];
export type QueueMode = (typeof QUEUE_MODES)[number];
export type PromptState = (typeof PROMPT_STATES)[number];
export type Outcome = (typeof OUTCOMES)[number];
export type EntryKind = (typeof ENTRY_KINDS)[number];

/**
 * Things that a session waits for. `runner`: a place on a machine that can take its turn;
 * `machine`: the one machine that holds its files.
 */
export const SESSION_WAIT_KINDS = [
  "children",
  "runner",
  "quota",
  "machine",
  "plan",
  "time",
  "budget",
] as const;
export type SessionWaitKind = (typeof SESSION_WAIT_KINDS)[number];

export const sessionWaitSchema = z
  .object({
    kind: z.enum(SESSION_WAIT_KINDS),
    /** Sentence for a person: what is missing, and what to do about it. */
    message: z.string(),
    /** Time when the session continues by itself, if known. */
    until: z.string().nullable(),
  })
  .meta({ id: "SessionWait" });
export type SessionWait = z.infer<typeof sessionWaitSchema>;

export const lastErrorSchema = z
  .object({ code: z.string(), message: z.string() })
  .meta({ id: "LastError" });

export const sessionSchema = z
  .object({
    id: z.string(),
    title: z.string().nullable(),
    kind: z.enum(SESSION_KINDS),
    purpose: z.enum(["task", "review"]),
    lifecycle: z.enum(LIFECYCLES),
    activity: z.enum(ACTIVITIES),
    /** Reason why the session does not continue; null when nothing holds it up. */
    waitingFor: sessionWaitSchema.nullable(),
    status: z.enum(SESSION_STATUSES),
    /** Error of the last turn; null when that turn did not fail. */
    lastError: lastErrorSchema.nullable(),
    parentSessionId: z.string().nullable(),
    rootSessionId: z.string(),
    depth: z.number().int(),
    ownerId: z.string().nullable(),
    runtime: z.string(),
    model: z.string().nullable(),
    repo: z.string().nullable(),
    branch: z.string().nullable(),
    persona: z.string().nullable(),
    /** Pinned version of the persona. */
    personaVersion: z.number().int().nullable(),
    scopeKey: z.string().nullable(),
    channelBindings: z.array(z.object({ channelType: z.string(), channelId: z.string() })),
    isOrchestrator: z.boolean(),
    queueMode: z.enum(QUEUE_MODES),
    instructions: z.string().nullable(),
    enableMemory: z.boolean(),
    budget: z.number().nullable(),
    projectDir: z.string().nullable(),
    agentName: z.string().nullable(),
    executorSessionId: z.string().nullable(),
    executorProfile: z.string().nullable(),
    executorType: z.string().nullable(),
    hostname: z.string().nullable(),
    incarnation: z.number().int(),
    lastSeq: z.number().int(),
    counts: z.object({ queued: z.number().int(), prompts: z.number().int() }),
    /** Micro-units of the currency, or null when a model without a price was used. */
    cost: z.number().nullable(),
    createdAt: isoTime,
    updatedAt: isoTime,
    lastResumedAt: isoTime.nullable(),
  })
  .meta({ id: "Session" });
export type Session = z.infer<typeof sessionSchema>;

/** Any session as an admin sees it without opening it: nothing that was said or typed. */
export const overseenSessionSchema = sessionSchema
  .pick({
    id: true,
    ownerId: true,
    kind: true,
    isOrchestrator: true,
    parentSessionId: true,
    lifecycle: true,
    activity: true,
    status: true,
    cost: true,
    createdAt: true,
    updatedAt: true,
  })
  .extend({
    /** End of the caller's access; null when the session was not opened. */
    openUntil: isoTime.nullable(),
  })
  .meta({ id: "OverseenSession" });
export type OverseenSession = z.infer<typeof overseenSessionSchema>;

export const authorSchema = z.object({
  kind: z.enum(AUTHOR_KINDS),
  id: z.string(),
  name: z.string(),
});
export type Author = z.infer<typeof authorSchema>;

export const originSchema = z.object({
  channelType: z.string(),
  channelId: z.string().nullable(),
  scopeKey: z.string().nullable(),
  replyRef: z.string().nullable(),
  /** Metadata that the sender wanted kept with the prompt. */
  metadata: z.record(z.string(), z.unknown()).optional(),
});
export type Origin = z.infer<typeof originSchema>;

export const attachmentSchema = z.object({
  name: z.string(),
  mediaType: z.string(),
  size: z.number().int(),
  sha256: z.string(),
});
export type Attachment = z.infer<typeof attachmentSchema>;

/** Reason why a prompt has not started, as a code for programs and a sentence for people. */
export const WAIT_REASONS = [
  "collecting",
  "behind_other_prompts",
  "session_busy",
  "no_runner",
  "no_matching_runner",
  "runner_busy",
  "runner_starting",
  "runner_silent",
  "workspace_offline",
  "retry_backoff",
  "paused",
  /** The provider's limit of the model is used up until an instant. */
  "quota",
  "budget",
  "gate",
  "stopping",
] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/** Things that a turn can end by waiting for. */
export const TURN_WAITS = ["children", "time"] as const;
export type TurnWait = (typeof TURN_WAITS)[number];

export const promptSchema = z
  .object({
    id: z.string(),
    sessionId: z.string(),
    thread: z.string(),
    mode: z.enum(QUEUE_MODES),
    state: z.enum(PROMPT_STATES),
    outcome: z.enum(OUTCOMES).nullable(),
    content: z.string(),
    /** Notice that `content` renders for the model; null for a message that somebody wrote. */
    notice: noticeSchema.nullable(),
    attachments: z.array(attachmentSchema),
    author: authorSchema,
    origin: originSchema,
    dispatchId: z.string().nullable(),
    runId: z.string().nullable(),
    attempts: z.number().int(),
    supersededBy: z.string().nullable(),
    mergedInto: z.string().nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    acceptedAt: isoTime,
    queuedAt: isoTime.nullable(),
    startedAt: isoTime.nullable(),
    settledAt: isoTime.nullable(),
    /** Set when the turn ended by waiting: its answer comes with a later turn. */
    endedWaitingFor: z.enum(TURN_WAITS).nullable(),
    waitingFor: z
      .object({
        reason: z.enum(WAIT_REASONS),
        message: z.string(),
        ahead: z.number().int(),
        /** Time when the prompt continues by itself, if known. */
        until: z.string().nullable(),
      })
      .nullable(),
  })
  .meta({ id: "Prompt" });
export type Prompt = z.infer<typeof promptSchema>;

/** Decision of the server on a tool call before it is performed. */
export const VERDICTS = ["allow", "ask", "deny", "invalid"] as const;
export const verdictSchema = z.object({
  /** `ask`: a person must decide first. `invalid`: the call itself is wrong and the model can correct it. */
  verdict: z.enum(VERDICTS),
  /** Reason for the model, when the verdict is not `allow`. */
  reason: z.string().nullable(),
  /** Text that the policy's patterns were matched against. */
  target: z.string().nullable().optional(),
  /**
   * True for a command that was judged for a machine with a sandbox: it runs in a sandbox or not at
   * all.
   */
  sandboxed: z.boolean().optional(),
});
export type Verdict = z.infer<typeof verdictSchema>;

export const toolUseSchema = z.object({
  name: z.string(),
  callId: z.string(),
  input: z.unknown(),
  output: z.unknown(),
  error: z.string().nullable(),
  exitCode: z.number().int().nullable(),
  durationMs: z.number().nullable(),
  truncated: z.boolean(),
  /** Verdict of a tool call; null when nobody was asked to judge it. */
  verdict: verdictSchema.nullable(),
});

export const entrySchema = z
  .object({
    id: z.string(),
    seq: z.number().int(),
    thread: z.string(),
    promptId: z.string().nullable(),
    kind: z.enum(ENTRY_KINDS),
    role: z.enum(["user", "assistant", "system"]),
    text: z.string().nullable(),
    tool: toolUseSchema.nullable(),
    author: authorSchema.nullable(),
    /** Notice that the text of a prompt renders for the model; null for everything else. */
    notice: noticeSchema.nullable(),
    /** True when the turn was cut while this entry was being written. */
    partial: z.boolean(),
    at: isoTime,
  })
  .meta({ id: "Entry" });
export type Entry = z.infer<typeof entrySchema>;
