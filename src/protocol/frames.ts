/**
 * Frames between a runner and a server, one JSON object per WebSocket message.
 *
 * The runner opens the socket and sends `register`. The server answers `registered` (or `refused`
 * and closes). From then on the server pushes `assign` while the runner is ready and has free places;
 * the runner confirms each with `accepted`, streams `delta`s, appends `journal` batches and renews its
 * leases. Frames with an `id` are answered by exactly one frame with the same `id`. Every frame about
 * a run carries its fence; a stale fence changes nothing and is answered with `lost`.
 *
 * A new tool adds no frame: `tool` carries any of them.
 */
import * as z from "zod";
import {
  durationSchema,
  MAX_CALL_ID_CHARS,
  MAX_DELTA_CHARS,
  MAX_DELTA_TOOL_CHARS,
  MAX_FRAME_ITEMS,
  placeSchema,
} from "./bounds.ts";
import { errorCodeSchema, journalItemSchema, settlementSchema } from "./events.ts";
import { modelCapabilitySchema } from "./models.ts";
import { repositoryAddressSchema } from "./names/repository-address.ts";
import { diskReportSchema } from "./reports/disk-report.ts";
import { sandboxReportSchema } from "./reports/sandbox-report.ts";
import { attachmentSchema, authorSchema, type Verdict } from "./sessions.ts";
import { AGENT_ROLES, type ToolDefinition } from "./tools.ts";
import { type GitIdentity, type RepositoryAccess, workspaceChangesSchema } from "./workspaces.ts";

/** A server serves this version and the one before it. */
export const RUNNER_PROTOCOL = 1;
export const LEASE_MS = 15_000;
export const RENEW_EVERY_MS = 5_000;
/** A runner starts no model or tool step when its last acknowledged renewal is older than this. */
export const STEP_FRESHNESS_MS = 10_000;

export const CANCEL_REASONS = ["stop", "steer", "interrupt", "timeout", "budget"] as const;
export type CancelReason = (typeof CANCEL_REASONS)[number];

const ID = z.string().regex(/^[\w:.@-]{1,200}$/, "an id");
const runRef = { run: ID, fence: placeSchema };
/** Matches an answer to its request. */
const frameId = z.string().max(200);

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
  /** Models that the native runtime can use. */
  models: z.array(modelCapabilitySchema).max(1000).default([]),
  sandbox: sandboxReportSchema.nullable().default(null),
  /** Null for a runner that keeps no files, or for an earlier version. */
  disk: diskReportSchema.nullable().optional(),
  /** Runtimes that begin a turn by reading its material: they are sent it with the turn. */
  readers: z.array(z.string().max(100)).max(100).optional(),
  /** True for a runner that its server runs or started, and that ends with that server. */
  endsWithServer: z.boolean().optional(),
});
export type RunnerProfile = z.infer<typeof runnerProfileSchema>;

/** One earlier entry of the thread, or of this turn, as a runtime needs it to continue. */
export const historyItemSchema = z.object({
  seq: z.number().int(),
  role: z.enum(["user", "assistant", "system"]),
  promptId: z.string().nullable(),
  item: z.union([
    journalItemSchema,
    z.object({
      type: z.literal("prompt"),
      text: z.string(),
      author: authorSchema,
      attachments: z.array(attachmentSchema),
    }),
  ]),
});
export type HistoryItem = z.infer<typeof historyItemSchema>;

/** Limits of a turn; each ends the turn, or the response, with its own code. */
export const turnLimitsSchema = z.object({
  requests: z.number().int(),
  callsPerResponse: z.number().int(),
  wallMs: z.number().int(),
  costMicros: z.number().int().nullable(),
  outputBytes: z.number().int(),
});
export type TurnLimits = z.infer<typeof turnLimitsSchema>;
export const DEFAULT_TURN_LIMITS: TurnLimits = {
  requests: 100,
  callsPerResponse: 25,
  wallMs: 2 * 60 * 60_000,
  costMicros: null,
  outputBytes: 60_000,
};

/** Decision of a gate, for the turn that asked. */
export const decisionSchema = z.object({
  callId: z.string(),
  allowed: z.boolean(),
  /** Reason for a denial, in words for the model; null for a question. */
  reason: z.string().nullable(),
  /** One answer for each question. */
  answers: z.array(z.string()).nullable(),
  /**
   * True the first time a runner receives it. Later the call may have been under way when that
   * runner was lost.
   */
  fresh: z.boolean(),
});
export type Decision = z.infer<typeof decisionSchema>;

/** Reason why a turn releases its runner before it is over. */
export const parkSchema = z.discriminatedUnion("kind", [
  /** A call that was judged `ask` waits for a person. */
  z.object({ kind: z.literal("gate"), callId: z.string().max(MAX_CALL_ID_CHARS) }),
  /** Nothing can be done for a while; the turn continues by itself. */
  z.object({
    kind: z.literal("pause"),
    waitMs: durationSchema,
    code: errorCodeSchema,
    message: z.string(),
    /** Calls that were due and not begun: the next attempt may perform them. */
    notBegun: z.array(z.string()).max(1000).optional(),
  }),
]);
export type Park = z.infer<typeof parkSchema>;

/** Material that an agent reads besides its prompt. */
export interface BriefText {
  instructions: { name: string; content: string }[];
  files: { path: string; content: string }[];
  setup: string | null;
  identity: GitIdentity | null;
  recall: string[];
}

/** A page of earlier entries. */
export interface HistoryPage {
  items: HistoryItem[];
  more: boolean;
  summary: string | null;
  /**
   * False after a recent failure: no summary is to be made yet. Absent from servers that do not
   * remember failures; those are not notified of any.
   */
  summaryDue?: boolean;
}

/**
 * Answers to the first questions of a turn, sent ahead. The runner asks for any part that is
 * missing, including a missing register when it needs one.
 */
export interface Material {
  brief?: BriefText & { register?: string | null };
  /** Newest page before the turn. */
  history?: HistoryPage;
  /** Time of the claim, with time zone and locale of the session's person. */
  time?: { at: number; timezone: string; locale: string };
}

/** Everything a runner needs to work on one turn. */
export const assignmentSchema = z.object({
  ...runRef,
  /** Identifies its bearer to the server as this session, while this attempt holds the run. */
  token: z.string(),
  attempt: z.number().int(),
  sessionId: z.string(),
  thread: z.string(),
  promptId: z.string(),
  content: z.string(),
  attachments: z.array(attachmentSchema),
  author: authorSchema,
  /** Owner and parent of the session, which tell the authors of its prompts apart. */
  ownerId: z.string().nullable(),
  parentSessionId: z.string().nullable(),
  /** True when nothing came before this turn in its session. */
  isFirst: z.boolean(),
  runtime: z.string(),
  model: z.string().nullable(),
  projectDir: z.string().nullable(),
  executorSessionId: z.string().nullable(),
  instructions: z.string().nullable(),
  /** True when there is a brief to request. */
  hasBrief: z.boolean(),
  /** Address as text, for older runners; null for a path that is not granted. */
  repo: z.string().nullable(),
  repository: repositoryAddressSchema.nullable(),
  /** True when the server grants a folder of the runner's machine, as `repository` or `projectDir`. */
  mayUsePath: z.boolean(),
  branch: z.string().nullable(),
  role: z.enum(AGENT_ROLES),
  /** Names of the agent's tools: those of the runner, and of the server's catalogue. */
  tools: z.array(z.string()),
  limits: turnLimitsSchema,
  /** Cost of earlier attempts of this turn. */
  spentMicros: z.number().int(),
  /** Time that models and tools took in those attempts. */
  workedMs: z.number(),
  /** Remaining budget of the session; null when it has no budget. */
  budgetLeftMicros: z.number().int().nullable(),
  /** Decisions on the gates of this turn. */
  decisions: z.array(decisionSchema),
  /**
   * Items this turn has journaled so far, in order. A runtime continues after them and repeats
   * none.
   */
  journal: z.array(journalItemSchema),
  /**
   * Changes of the workspace that the session has left. A new workspace is made, whatever this
   * machine holds of the old one, and these changes are put into it.
   */
  carried: workspaceChangesSchema.optional(),
  /** Allowed calls that no attempt has begun, as the attempt that paused before them reported. */
  notBegun: z.array(z.string()).optional(),
  /** Sent only to runtimes that read first, and within a size limit. */
  material: z.custom<Material>().optional(),
});
export type Assignment = z.infer<typeof assignmentSchema>;

export const bindingSchema = z.object({
  executorSessionId: z.string().nullable(),
  executorType: z.string(),
  executorProfile: z.string().nullable(),
  projectDir: z.string().nullable(),
  /** Set by the runner that has made a workspace: the session's later turns go to it. */
  workspaceId: z.string().optional(),
});
export type ExecutorBinding = z.infer<typeof bindingSchema>;

/** Slightly more than the places of a runner. */
const MAX_RUNS = 10_100;
const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

export const runnerFrameSchema = z.discriminatedUnion("op", [
  z.object({
    op: z.literal("register"),
    id: frameId,
    protocol: placeSchema,
    bootId: z.string().max(200),
    profile: runnerProfileSchema,
    /** Proves the identity of the machine; runners of earlier versions send none. */
    identity: z
      .object({ publicKey: z.string().max(200), signature: z.string().max(200) })
      .optional(),
    /** Runs this process still works on, after a lost connection. */
    holding: z.array(z.object(runRef)).max(MAX_RUNS),
    /**
     * False while the runner does not know its models. It gets no work until its first `models`
     * frame.
     */
    ready: z.boolean().optional(),
    /** True for a runner that sends `accepted` for each assignment. Older runners do not. */
    acknowledges: z.boolean().optional(),
  }),
  /** Confirms an assignment. An attempt that was never confirmed does not count against its prompt. */
  z.object({ op: z.literal("accepted"), ...runRef }),
  z.object({ op: z.literal("renew"), id: frameId, runs: z.array(z.object(runRef)).max(MAX_RUNS) }),
  z.object({
    op: z.literal("journal"),
    id: frameId,
    ...runRef,
    firstOrdinal: placeSchema,
    items: z.array(journalItemSchema).max(MAX_FRAME_ITEMS),
    bind: bindingSchema.optional(),
    settle: settlementSchema.optional(),
    park: parkSchema.optional(),
  }),
  z.object({
    op: z.literal("delta"),
    ...runRef,
    entryId: z.string().max(200),
    kind: z.enum(["text", "reasoning", "tool_call"]),
    toolName: z.string().max(MAX_DELTA_TOOL_CHARS).optional(),
    offset: placeSchema,
    text: z.string().max(MAX_DELTA_CHARS),
  }),
  z.object({
    op: z.literal("tool"),
    id: frameId,
    ...runRef,
    callId: z.string().max(MAX_CALL_ID_CHARS),
    name: z.string(),
    input: z.unknown(),
  }),
  z.object({
    op: z.literal("history"),
    id: frameId,
    ...runRef,
    beforeSeq: placeSchema.nullable(),
    limit: z.number().int().min(1).max(1000),
  }),
  /** Requests the brief of the agent, when the assignment says that there is one. */
  z.object({ op: z.literal("brief"), id: frameId, ...runRef }),
  /** Requests access to the session's repository, to fetch from it or to push to it. */
  z.object({ op: z.literal("repository"), id: frameId, ...runRef }),
  /** Stores something too large for the journal. */
  z.object({
    op: z.literal("blob"),
    id: frameId,
    ...runRef,
    mediaType: z
      .string()
      .regex(/^[\w.+-]+\/[\w.+-]+(; charset=[\w-]+)?$/)
      .max(200),
    /** Base64. */
    data: z.string(),
  }),
  z.object({ op: z.literal("fetch_blob"), id: frameId, ...runRef, sha256: sha256Schema }),
  /** The models that the native runtime can use have changed. */
  z.object({
    op: z.literal("models"),
    id: frameId,
    models: z.array(modelCapabilitySchema).max(1000),
  }),
  /** Reports the sandbox of the runner's machine, whenever it has changed or was checked. */
  z.object({ op: z.literal("sandbox"), id: frameId, sandbox: sandboxReportSchema }),
  /**
   * Reports the disk of the machine: about once a minute, and when it becomes full or has room
   * again.
   */
  z.object({ op: z.literal("disk"), id: frameId, disk: diskReportSchema }),
  /** Asks for the state of sessions whose files this runner keeps. */
  z.object({
    op: z.literal("sessions"),
    id: frameId,
    sessions: z.array(ID).max(10_000),
  }),
  /**
   * Gives a run back unharmed (drain): it is claimed again at once, and the attempt does not count
   * against it.
   */
  z.object({
    op: z.literal("release"),
    id: frameId,
    ...runRef,
    /** False when nothing of the run was begun. */
    begun: z.boolean().optional(),
  }),
  z.object({ op: z.literal("drain"), id: frameId }),
]);
export type RunnerFrame = z.infer<typeof runnerFrameSchema>;

export type ServerFrame =
  | {
      op: "registered";
      id: string;
      runnerId: string;
      serverBootId: string;
      lost: string[];
      /** Tools that the server performs. */
      tools: ToolDefinition[];
      /** True when the server knows the frame `accepted`. Older servers do not. */
      wantsAccepted?: boolean;
      /** True when somebody has consented to work without a sandbox on this machine. */
      unsandboxed?: boolean;
    }
  | { op: "refused"; id: string; code: string; message: string }
  | { op: "assign"; assignment: Assignment }
  | { op: "renewed"; id: string; lost: string[] }
  | {
      op: "journaled";
      id: string;
      run: string;
      lastOrdinal: number;
      /** Verdicts by call id, for the calls in the batch that asked to be judged. */
      verdicts?: Record<string, Verdict>;
    }
  | { op: "lost"; id: string | null; run: string; fence?: number; code: string }
  | {
      op: "tool_result";
      id: string;
      output: unknown;
      error: string | null;
      /** True when the result ends the turn. */
      endsTurn?: boolean;
    }
  | ({ op: "history"; id: string } & HistoryPage)
  | ({ op: "brief"; id: string; register: string | null } & BriefText)
  /** Access is null when the organisation does not know the repository, so nothing opens it. */
  | { op: "repository"; id: string; access: RepositoryAccess | null }
  | { op: "blob"; id: string; sha256: string; mediaType: string; data: string | null }
  /** Inactive sessions among those asked about; `gone` ones will not come back. */
  | { op: "sessions"; id: string; resting: string[]; gone: string[] }
  /**
   * The lifecycle of some session has changed: the runner asks about the sessions it keeps files
   * for.
   */
  | { op: "tidy" }
  /** The model providers that runners reach through the server have changed. */
  | { op: "providers" }
  /** Tells the runner if it may work without a sandbox, and to look for a sandbox again. */
  | { op: "sandbox"; unsandboxed: boolean; look: boolean }
  | { op: "done"; id: string }
  | { op: "cancel"; run: string; fence: number; reason: CancelReason; graceMs: number };
