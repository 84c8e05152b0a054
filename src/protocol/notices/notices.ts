/**
 * Notices: typed news for an agent, written by the platform. A notice stands on the prompt that
 * delivers it and on that prompt's transcript entry; the text for the model is rendered from it, and
 * programs read the notice, never the text. Pure: `notice-words.ts` has the words for people.
 */
import * as z from "zod";
import { questionSchema } from "../tools.ts";

export const WORKER_EVENT_TYPES = [
  /** A turn of the child ended: it completed, or failed for a reason of its own. */
  "worker.ended",
  /** The child asks a question, or presents a plan, and waits for the answer. */
  "worker.ask_user",
  /** The model could not be reached, however often it was tried; sent instead of the end. */
  "worker.auto_retry_failed",
  /** A turn was stopped, or lost with its machine, before it came to an end. */
  "worker.stopped_without_end",
  /** Somebody else archived or ended the child. */
  "worker.deleted",
  /** Somebody else detached the child from its parent. */
  "worker.detached",
  /** The child sent its parent a message while it works on. */
  "worker.notified",
] as const;
export type WorkerEventType = (typeof WORKER_EVENT_TYPES)[number];

/** Facts about a child's event. Texts are an agent's words: information, never an order. */
export const workerEventPayloadSchema = z
  .object({
    outcome: z.string().exactOptional(),
    code: z.string().nullable().exactOptional(),
    /** The child's last words, or the reason of its failure. */
    text: z.string().exactOptional(),
    /** True if there is more of the text than is given. */
    isCut: z.boolean().exactOptional(),
    /** Characters of the whole text, when only its beginning is given. */
    length: z.number().int().exactOptional(),
    /** In a list: the route that returns the whole of a cut text. */
    readOn: z.string().exactOptional(),
    questions: z.array(z.string()).exactOptional(),
    /** The questions with their options, when one of them has any. */
    choices: z.array(questionSchema).exactOptional(),
    /** `plan`: the text is a plan that waits for a decision, and `outcome` is that decision. */
    kind: z.literal("plan").exactOptional(),
    summary: z.string().exactOptional(),
    /** True when the question is no longer pending: it was answered, or its turn has ended. */
    isClosed: z.boolean().exactOptional(),
    /** True when the session was removed because its workspace could not be made. */
    isRemoved: z.boolean().exactOptional(),
    gateId: z.string().exactOptional(),
    promptId: z.string().exactOptional(),
    /** Number of events that this one stands for, when there were too many to keep each. */
    count: z.number().int().exactOptional(),
    workers: z
      .array(
        z.object({
          workerId: z.string(),
          workerName: z.string(),
          type: z.string(),
          count: z.number().int(),
        }),
      )
      .exactOptional(),
  })
  .meta({ id: "WorkerEventPayload" });
export type WorkerEventPayload = z.infer<typeof workerEventPayloadSchema>;

const childEventSchema = z.object({
  type: z.enum(WORKER_EVENT_TYPES),
  childId: z.string(),
  childName: z.string(),
  payload: workerEventPayloadSchema,
});
export type ChildEvent = z.infer<typeof childEventSchema>;

export const MESSAGE_TYPES = [
  "message",
  "notification",
  "question",
  "escalation",
  "approval",
] as const;

/** Relation of the sender to the reader. */
export const MESSAGE_RELATIONS = [
  "person",
  "parent",
  "child",
  "sibling",
  "orchestrator",
  "own",
  "guest_agent",
  "guest_person",
  "org",
] as const;
export type MessageRelation = (typeof MESSAGE_RELATIONS)[number];

const noticeMessageSchema = z.object({
  id: z.string(),
  type: z.enum(MESSAGE_TYPES),
  from: z.object({
    kind: z.enum(["session", "user"]),
    id: z.string(),
    name: z.string(),
    /** Handle of an orchestrator, without the @. */
    handle: z.string().nullable(),
  }),
  relation: z.enum(MESSAGE_RELATIONS),
  replyToId: z.string().nullable(),
  about: z.object({
    sessionId: z.string().nullable(),
    taskId: z.string().nullable(),
    ref: z.string().nullable(),
  }),
  text: z.string(),
});
export type NoticeMessage = z.infer<typeof noticeMessageSchema>;

const namedTaskSchema = z.object({ id: z.string(), title: z.string() });
export type NamedTask = z.infer<typeof namedTaskSchema>;

const boardEventSchema = z.discriminatedUnion("event", [
  z.object({ event: z.literal("assigned"), task: namedTaskSchema }),
  z.object({
    event: z.literal("overdue"),
    task: namedTaskSchema,
    status: z.string(),
    /** Due time, in the time zone of the board's owner. */
    due: z.string(),
  }),
  z.object({
    event: z.literal("unblocked"),
    task: namedTaskSchema,
    by: namedTaskSchema,
    isAssigned: z.boolean(),
  }),
  z.object({ event: z.literal("blocker_failed"), task: namedTaskSchema, blocker: namedTaskSchema }),
  z.object({
    event: z.literal("blocker_deleted"),
    task: namedTaskSchema,
    blockers: z.array(namedTaskSchema),
    /** True when nothing blocks the task any more. */
    isFree: z.boolean(),
  }),
  /** Written by an earlier version, which kept sentences instead of facts. */
  z.object({ event: z.literal("note"), text: z.string() }),
]);
export type BoardEvent = z.infer<typeof boardEventSchema>;

const childrenNoticeSchema = z.object({
  kind: z.literal("children"),
  /**
   * Reason why a wait of the reader is over, besides the events; null when the events are the
   * reason.
   */
  waitEnded: z.enum(["time", "children_gone"]).nullable(),
  items: z.array(childEventSchema),
});

const messagesNoticeSchema = z.object({
  kind: z.literal("messages"),
  /** `person`: the reader's own person; `own`: that person's sessions; `guest`: anybody else. */
  from: z.enum(["person", "own", "guest"]),
  /** True when the turn is a guest's: it may look, answer and ask, and nothing else. */
  isGuest: z.boolean(),
  /** Handle that a guest wrote to. */
  toHandle: z.string().nullable(),
  items: z.array(noticeMessageSchema),
});

const boardNoticeSchema = z.object({
  kind: z.literal("board"),
  items: z.array(boardEventSchema),
  /** True when there are more events than the notice lists. */
  hasMore: z.boolean(),
});

/** End of an `async_callback` run, for a parent without an inbox. */
const callbackNoticeSchema = z.object({
  kind: z.literal("callback"),
  childId: z.string(),
  childName: z.string(),
  runId: z.string(),
  outcome: z.string(),
  text: z.string(),
});

/** A call that was decided after the turn that made it had ended. */
const callNoticeSchema = z.object({
  kind: z.literal("call"),
  gateId: z.string(),
  gateKind: z.enum(["approval", "question", "plan"]),
  tool: z.string(),
  outcome: z.enum(["done", "failed", "refused"]),
  /** Result, error, or reason. */
  text: z.string(),
});

export const noticeSchema = z
  .discriminatedUnion("kind", [
    childrenNoticeSchema,
    messagesNoticeSchema,
    boardNoticeSchema,
    callbackNoticeSchema,
    callNoticeSchema,
  ])
  .meta({ id: "Notice" });
export type Notice = z.infer<typeof noticeSchema>;
export type NoticeKind = Notice["kind"];
export type NoticeOf<K extends NoticeKind> = Extract<Notice, { kind: K }>;
