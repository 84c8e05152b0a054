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
import { modelOfferSchema } from "./models.ts";
import { repositoryAddressSchema } from "./names/repository-address.ts";
import { diskReportSchema } from "./reports/disk-report.ts";
import { sandboxReportSchema } from "./reports/sandbox-report.ts";
import { attachmentSchema, authorSchema, type Verdict } from "./sessions.ts";
import { AGENT_ROLES, type ToolOffer } from "./tools.ts";
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
/** Answers are found by it. */
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
  models: z.array(modelOfferSchema).max(1000).default([]),
  sandbox: sandboxReportSchema.nullable().default(null),
  /** Null for a runner that keeps no files, or of an earlier version. */
  disk: diskReportSchema.nullable().optional(),
  /** Its runtimes that begin a turn by asking what there is to read: they are given it with the turn. */
  readers: z.array(z.string().max(100)).max(100).optional(),
  /** True: the server it connects to runs or started it, and it ends when that server ends. */
  endsWithServer: z.boolean().optional(),
});
export type RunnerProfile = z.infer<typeof runnerProfileSchema>;

/** One earlier entry of the thread, or of this turn, as a runtime needs it to go on. */
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

/** Each ends the turn, or the response, with a code of its own. */
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

/** The end of a gate, as the turn that asked needs it. */
export const decisionSchema = z.object({
  callId: z.string(),
  allowed: z.boolean(),
  /** Why not, in words for the model; for a question, null. */
  reason: z.string().nullable(),
  /** One for each question that was asked. */
  answers: z.array(z.string()).nullable(),
  /** True the first time a runner is told. Later the call may have been under way when that runner was lost. */
  fresh: z.boolean(),
});
export type Decision = z.infer<typeof decisionSchema>;

/** Why a turn lets go of its runner without being over. */
export const parkSchema = z.discriminatedUnion("kind", [
  /** A call that was judged `ask` waits for a person. */
  z.object({ kind: z.literal("gate"), callId: z.string().max(MAX_CALL_ID_CHARS) }),
  /** Nothing can be done for a while; it goes on by itself. */
  z.object({
    kind: z.literal("pause"),
    waitMs: durationSchema,
    code: errorCodeSchema,
    message: z.string(),
    /** Calls whose turn had come and that were not begun: the next attempt may perform them. */
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
   * False: a summary failed lately, and none is to be asked for yet. Left out by servers that do not
   * remember failures; those are told of none.
   */
  summaryDue?: boolean;
}

/**
 * Answers to the first questions of a turn, sent ahead. The runner asks for any part that is
 * missing, including a missing register when it needs one.
 */
export interface Material {
  brief?: BriefText & { register?: string | null };
  /** The newest page before the turn. */
  history?: HistoryPage;
  /** When the turn was claimed, and where the session's person is. */
  time?: { at: number; timezone: string; locale: string };
}

/** All a runner needs to work one turn. */
export const assignmentSchema = z.object({
  ...runRef,
  /** Makes its bearer known to the server as this session, while this attempt holds the run. */
  token: z.string(),
  attempt: z.number().int(),
  sessionId: z.string(),
  thread: z.string(),
  promptId: z.string(),
  content: z.string(),
  attachments: z.array(attachmentSchema),
  author: authorSchema,
  /** Whose session it is, and whose child: what others say in it is told apart by these. */
  ownerId: z.string().nullable(),
  parentSessionId: z.string().nullable(),
  /** Nothing came before it in this session. */
  isFirst: z.boolean(),
  runtime: z.string(),
  model: z.string().nullable(),
  projectDir: z.string().nullable(),
  executorSessionId: z.string().nullable(),
  instructions: z.string().nullable(),
  /** There is a brief to ask for. */
  hasBrief: z.boolean(),
  /** The address as text, for older runners; null for a path that is not granted. */
  repo: z.string().nullable(),
  repository: repositoryAddressSchema.nullable(),
  /** Granted by the server: a folder of the runner's machine, as `repository` or `projectDir`. */
  mayUsePath: z.boolean(),
  branch: z.string().nullable(),
  role: z.enum(AGENT_ROLES),
  /** The names of the tools this agent has: those of the runner, and of the server's catalogue. */
  tools: z.array(z.string()),
  limits: turnLimitsSchema,
  /** Cost of earlier attempts of this turn. */
  spentMicros: z.number().int(),
  /** Time that models and tools took in those attempts. */
  workedMs: z.number(),
  /** Remaining budget of the session; null when it has no budget. */
  budgetLeftMicros: z.number().int().nullable(),
  /** Answers to what this turn has asked. */
  decisions: z.array(decisionSchema),
  /**
   * Items this turn has journaled so far, in order. A runtime continues after them and repeats
   * none.
   */
  journal: z.array(journalItemSchema),
  /**
   * The session has left its workspace: a new one is made, whatever this machine holds of it, and
   * these changes are put into it.
   */
  carried: workspaceChangesSchema.optional(),
  /** Allowed calls that no attempt has begun, by the word of the attempt that paused before them. */
  notBegun: z.array(z.string()).optional(),
  /** Only for runtimes that read first, and where it is not too much. */
  material: z.custom<Material>().optional(),
});
export type Assignment = z.infer<typeof assignmentSchema>;

export const bindingSchema = z.object({
  executorSessionId: z.string().nullable(),
  executorType: z.string(),
  executorProfile: z.string().nullable(),
  projectDir: z.string().nullable(),
  /** Set by the runner that has made a workspace: the session's later turns come to it. */
  workspaceId: z.string().optional(),
});
export type ExecutorBinding = z.infer<typeof bindingSchema>;

/** As many as a runner's places, and a little more. */
const MAX_RUNS = 10_100;
const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

export const runnerFrameSchema = z.discriminatedUnion("op", [
  z.object({
    op: z.literal("register"),
    id: frameId,
    protocol: placeSchema,
    bootId: z.string().max(200),
    profile: runnerProfileSchema,
    /** Proves which machine it is; runners of earlier versions send none. */
    identity: z
      .object({ publicKey: z.string().max(200), signature: z.string().max(200) })
      .optional(),
    /** Runs this process still works on, after a lost connection. */
    holding: z.array(z.object(runRef)).max(MAX_RUNS),
    /** False: it does not know its models yet. It is given no work until its first `models` frame. */
    ready: z.boolean().optional(),
    /** True: it sends `accepted` for each assignment. Older runners do not. */
    acknowledges: z.boolean().optional(),
  }),
  /** Confirms an assignment. One that was never confirmed is not held against its prompt. */
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
  /** Asks for what the agent is given to read, when the assignment says that there is something. */
  z.object({ op: z.literal("brief"), id: frameId, ...runRef }),
  /** Asks for what opens the session's repository, to fetch from it or to push to it. */
  z.object({ op: z.literal("repository"), id: frameId, ...runRef }),
  /** Keeps something too large for the journal. */
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
    models: z.array(modelOfferSchema).max(1000),
  }),
  /** Reports the sandbox of its machine, whenever it has changed or was looked at. */
  z.object({ op: z.literal("sandbox"), id: frameId, sandbox: sandboxReportSchema }),
  /** Reports the disk of its machine: about once a minute, and when it becomes full or has room again. */
  z.object({ op: z.literal("disk"), id: frameId, disk: diskReportSchema }),
  /** Asks what became of sessions this runner keeps files for. */
  z.object({
    op: z.literal("sessions"),
    id: frameId,
    sessions: z.array(ID).max(10_000),
  }),
  /** Gives a run back unharmed (drain): it is claimed again at once, and the attempt is not held against it. */
  z.object({
    op: z.literal("release"),
    id: frameId,
    ...runRef,
    /** False when nothing of it was begun. */
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
      /** The tools that live on the server. */
      tools: ToolOffer[];
      /** The server knows the frame `accepted`. Older servers do not. */
      wantsAccepted?: boolean;
      /** Somebody has consented to work without a sandbox on this machine. */
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
      /** By call id, of the calls in the batch that asked to be judged. */
      verdicts?: Record<string, Verdict>;
    }
  | { op: "lost"; id: string | null; run: string; fence?: number; code: string }
  | {
      op: "tool_result";
      id: string;
      output: unknown;
      error: string | null;
      /** Nothing more is to be done in this turn. */
      endsTurn?: boolean;
    }
  | ({ op: "history"; id: string } & HistoryPage)
  | ({ op: "brief"; id: string; register: string | null } & BriefText)
  /** Null: the organisation does not know the repository, so nothing opens it. */
  | { op: "repository"; id: string; access: RepositoryAccess | null }
  | { op: "blob"; id: string; sha256: string; mediaType: string; data: string | null }
  /** Inactive sessions among those asked about; `gone` ones will not come back. */
  | { op: "sessions"; id: string; resting: string[]; gone: string[] }
  /** Some session's life has changed: it is time to ask about those that are kept. */
  | { op: "tidy" }
  /** The model providers that runners reach through the server have changed. */
  | { op: "providers" }
  /** Tells the runner if it may work without a sandbox, and to look for a sandbox again. */
  | { op: "sandbox"; unsandboxed: boolean; look: boolean }
  | { op: "done"; id: string }
  | { op: "cancel"; run: string; fence: number; reason: CancelReason; graceMs: number };
