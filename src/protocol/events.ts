/**
 * A session's log. Events are durable rows with a gapless `seq`; deltas are ephemeral pieces of an
 * entry that is still being written. `data` holds the fields of each type; readers must ignore
 * fields they do not know, and `v` lets a later version translate old rows.
 */
import * as z from "zod";
import {
  countSchema,
  durationSchema,
  exitCodeSchema,
  MAX_CALL_ID_CHARS,
  MAX_DELTA_TOOL_CHARS,
  microsSchema,
  placeSchema,
} from "./bounds.ts";
import { roughSize } from "./rough-size.ts";
import { ENTRY_KINDS, OUTCOMES, verdictSchema } from "./sessions.ts";
import { workspaceChangesSchema } from "./workspaces.ts";

export const EVENT_TYPES = [
  "session_created",
  "session_start",
  "session_updated",
  "session_stop",
  "message",
  "pre_tool",
  "post_tool",
  "notice",
  "prompt_accepted",
  "prompt_queued",
  "prompt_edited",
  "prompt_promoted",
  "prompt_settled",
  "run_created",
  "run_claimed",
  "run_bound",
  "run_stopping",
  "run_lost",
  "run_settled",
  "run_parked",
  "gate_opened",
  "gate_closed",
  "model_call",
  "context_summary",
  "summary_failed",
  "workspace_changed",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

const jsonRecord = z.record(z.string(), z.unknown());

export const sessionEventSchema = z
  .object({
    seq: z.number().int(),
    type: z.enum(EVENT_TYPES),
    v: z.number().int(),
    at: z.string(),
    sessionId: z.string(),
    thread: z.string().nullable(),
    promptId: z.string().nullable(),
    runId: z.string().nullable(),
    /** Set on entries of the transcript: `message`, `pre_tool`, `post_tool`, `notice`. */
    entryId: z.string().nullable(),
    kind: z.enum(ENTRY_KINDS).nullable(),
    role: z.enum(["user", "assistant", "system"]).nullable(),
    /** Content blocks of a message: `[{type: "text", text}]`. */
    content: z.array(jsonRecord).nullable(),
    toolName: z.string().nullable(),
    toolInput: z.unknown(),
    toolOutput: z.unknown(),
    error: z.string().nullable(),
    exitCode: z.number().int().nullable(),
    reason: z.string().nullable(),
    data: jsonRecord.nullable(),
  })
  .meta({ id: "Event" });
export type SessionEvent = z.infer<typeof sessionEventSchema>;

/**
 * A piece of an entry being written. `offset` is the length of the text before it (in UTF-16 code
 * units): a reader that holds exactly that much appends, offset 0 replaces, anything else waits.
 */
export const deltaSchema = z.object({
  entryId: z.string(),
  thread: z.string(),
  kind: z.enum(["text", "reasoning", "tool_call"]),
  /** Tool name, for a call whose arguments are being written. */
  toolName: z.string().max(MAX_DELTA_TOOL_CHARS).optional(),
  offset: z.number().int(),
  text: z.string(),
});
export type Delta = z.infer<typeof deltaSchema>;
/** A piece as a runtime writes it; the run and the offset are added on the way. */
export type DeltaPiece = Pick<Delta, "entryId" | "kind" | "toolName" | "text">;

/** Answer to a tool call whose attempt was lost while the call was under way. */
export const INTERRUPTED = "interrupted, outcome unknown";

const imageRefSchema = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  mediaType: z.string().max(200),
});
export type ImageRef = z.infer<typeof imageRefSchema>;

const itemBase = { entryId: z.string().max(200), step: countSchema.optional() };
const callId = z.string().max(MAX_CALL_ID_CHARS);
/** Metadata of calls is read again for each call that is judged. */
const MAX_CALL_META_CHARS = 64_000;
const MAX_META_CHARS = 1_000_000;
/**
 * Provider metadata that must return with the next request, such as the signature of reasoning.
 * Accepts any object: checking each member costs much and proves nothing.
 */
const metaWithin = (chars: number) =>
  z
    .custom<Record<string, unknown>>(
      (value) =>
        typeof value === "object" &&
        value !== null &&
        !Array.isArray(value) &&
        roughSize(value) <= chars,
      `an object of at most ${chars} characters`,
    )
    .optional();

/** Files of a workspace that one turn may show. */
export const MAX_SHOWN_FILES = 50;
/** More than a response has calls. */
const MAX_RECHECKED = 1_000;

/** Items that a runner may append to the log of the session whose run it holds. */
export const journalItemSchema = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("message"),
    ...itemBase,
    kind: z.enum(["text", "reasoning"]),
    text: z.string(),
    partial: z.boolean().optional(),
    meta: metaWithin(MAX_META_CHARS),
  }),
  z.object({
    type: z.literal("pre_tool"),
    ...itemBase,
    callId,
    tool: z.string().max(500),
    input: z.unknown(),
    meta: metaWithin(MAX_CALL_META_CHARS),
    /** Working directory of a command, as seen in the sandbox; absent for the top of the workspace. */
    cwd: z.string().max(4096).optional(),
    /**
     * Asks the server to judge the call; the answer to the batch and every later assignment carry
     * the verdict.
     */
    authorise: z.boolean().optional(),
    verdict: verdictSchema.optional(),
  }),
  z.object({
    type: z.literal("post_tool"),
    ...itemBase,
    callId,
    tool: z.string().max(500),
    input: z.unknown(),
    output: z.unknown(),
    error: z.string().nullable(),
    exitCode: exitCodeSchema.nullable().optional(),
    durationMs: durationSchema.optional(),
    truncated: z.boolean().optional(),
    /** False for a call that was answered without being performed. */
    performed: z.boolean().optional(),
    images: z.array(imageRefSchema).optional(),
    /** True when the call asked to end the turn. */
    endsTurn: z.boolean().optional(),
    /**
     * Calls of the same response that were allowed and are performed next. Each is judged again,
     * since time has passed; the answer to the batch has the verdict of calls that are denied now.
     */
    recheck: z.array(callId).max(MAX_RECHECKED).optional(),
  }),
  z.object({
    type: z.literal("notice"),
    ...itemBase,
    text: z.string(),
    /** True when the model reads the notice too, in this turn and in later ones. */
    forModel: z.boolean().optional(),
  }),
  /** One request to a model, for usage and limits; not part of the transcript. */
  z.object({
    type: z.literal("model_call"),
    ...itemBase,
    model: z.string(),
    inputTokens: countSchema,
    cachedInputTokens: countSchema,
    outputTokens: countSchema,
    reasoningTokens: countSchema,
    /** Null when the price is not known. */
    costMicros: microsSchema.nullable(),
    priceId: z.string().nullable(),
    durationMs: durationSchema,
    stopReason: z.string(),
    /** True when the tokens are a guess: the answer was cut off, or gave no count. */
    estimated: z.boolean().optional(),
  }),
  /** Replaces everything in the thread up to and including `throughSeq`. */
  z.object({
    type: z.literal("context_summary"),
    ...itemBase,
    text: z.string(),
    throughSeq: placeSchema,
  }),
  /** A requested summary of the thread failed. */
  z.object({ type: z.literal("summary_failed"), ...itemBase }),
  /** Workspace changes made by the turn so far. */
  z.object({
    type: z.literal("workspace_changed"),
    ...itemBase,
    turn: workspaceChangesSchema,
    all: workspaceChangesSchema,
    /** Files that can be shown, as they are now. */
    files: z
      .array(imageRefSchema.extend({ path: z.string(), size: placeSchema }))
      .max(MAX_SHOWN_FILES),
    diskBytes: placeSchema,
  }),
]);
export type JournalItem = z.infer<typeof journalItemSchema>;
export type ModelCallItem = Extract<JournalItem, { type: "model_call" }>;

/** A stable code of ours, which is shown to others as such: it carries nobody's text. */
export const errorCodeSchema = z
  .string()
  .regex(/^[a-z0-9_.-]{1,100}$/)
  .catch("runtime_error");

export const settlementSchema = z.object({
  outcome: z.enum(OUTCOMES).extract(["completed", "failed", "aborted", "superseded"]),
  error: z.object({ code: errorCodeSchema, message: z.string() }).optional(),
  /** Result for the caller of the run. */
  result: z.string().optional(),
  usage: z
    .object({
      inputTokens: countSchema,
      outputTokens: countSchema,
      costMicros: microsSchema.nullable(),
    })
    .optional(),
});
export type Settlement = z.infer<typeof settlementSchema>;
