/**
 * Tools that let an orchestrator wait: its turn ends, and the awaited event starts the next one.
 */
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import type { Work } from "#engine/index.ts";
import { defineTool, type ToolCaller, type ToolResult } from "#engine/tools/index.ts";
import {
  beginWait,
  childEventOf,
  findLink,
  hasLiveChild,
  isLive,
  requireChildRow,
  takePendingEvents,
  wakeText,
} from "#features/delegation/index.ts";
import { ORCHESTRATORS, sessionIdInput } from "./own-child.ts";

const MAX_WAIT_SECONDS = 30 * 24 * 60 * 60;
const MAX_NAMED = 100;

export const waitForEvent = defineTool({
  name: "wait_for_event",
  description:
    "Waits for your child sessions: you are woken when one ends its turn, asks something, fails or is detached, and whenever a person writes to you, a message comes or one of your tasks is unblocked. Waiting costs nothing. Events that have already happened are returned at once, and your turn continues; otherwise your turn ends here, so first say what the person should know. Prefer it to sleep and to polling.",
  roles: ORCHESTRATORS,
  readOnly: false,
  target: () => null,
  schema: z.strictObject({
    sessionIds: z
      .array(sessionIdInput)
      .min(1)
      .max(MAX_NAMED)
      .optional()
      .describe(
        "Only these; events of others are kept until then. Questions always come through. Default: all of your children.",
      ),
    timeoutSeconds: z
      .number()
      .int()
      .min(1)
      .max(MAX_WAIT_SECONDS)
      .optional()
      .describe("You are woken after this time if nothing has happened. Default: no limit."),
  }),
  async handle(work, caller, { sessionIds, timeoutSeconds }) {
    const children = sessionIds ? [...new Set(sessionIds)] : null;
    return wait(work, caller, { kind: "children", children, seconds: timeoutSeconds ?? null });
  },
});

export const sleep = defineTool({
  name: "sleep",
  description:
    "Ends your turn and wakes you after some seconds, or earlier when something happens to a child session or a person writes to you. For external events that only need time. To wait for child sessions use wait_for_event.",
  roles: ORCHESTRATORS,
  readOnly: false,
  target: () => null,
  schema: z.strictObject({
    seconds: z.number().int().min(1).max(MAX_WAIT_SECONDS).describe("How long."),
  }),
  handle: (work, caller, { seconds }) =>
    wait(work, caller, { kind: "time", children: null, seconds }),
});

interface WaitRequest {
  kind: "children" | "time";
  /** Null for any child. */
  children: readonly string[] | null;
  /** Null for a wait without a timeout. */
  seconds: number | null;
}

async function wait(work: Work, caller: ToolCaller, request: WaitRequest): Promise<ToolResult> {
  const { session, run } = caller;
  const { thread } = run;
  // Pending events come first, even those of children that have ended.
  const untold = await takePendingEvents(work, session, thread);
  if (untold.length > 0)
    return {
      output: { events: wakeText(untold.map(childEventOf), "read_messages"), next: GO_ON },
      error: null,
    };
  const { kind, children, seconds } = request;
  if (children) await requireLiveNamedChild(work, caller, children);
  else if (seconds === null) await requireLiveChild(work, caller);
  await beginWait(work, session, {
    thread,
    promptId: run.prompt_id,
    kind,
    children,
    timeoutMs: seconds === null ? null : seconds * 1_000,
  });
  return { output: { waiting: true, next: END_TURN }, error: null, endsTurn: true };
}

const GO_ON =
  "This has already happened, and you will not be notified of it again. Act on it, then wait again if more is to come.";
const END_TURN = "Your turn ends here. You are woken when something happens.";

/**
 * Refuses a wait that no event could end: for ended children, or for children of another thread.
 */
async function requireLiveNamedChild(
  work: Work,
  { session, run }: ToolCaller,
  sessionIds: readonly string[],
): Promise<void> {
  let isAnyLive = false;
  let isNotifiedHere = false;
  for (const id of sessionIds) {
    const row = await requireChildRow(work.tx, session.row.id, id);
    if (!isLive(row)) continue;
    isAnyLive = true;
    isNotifiedHere ||= (await findLink(work.tx, id))?.parent_thread === run.thread;
  }
  if (isNotifiedHere) return;
  throw isAnyLive ? notifiedElsewhere() : allEnded();
}

/** Refuses a wait without a child and without a timeout, which only a person could end. */
async function requireLiveChild(work: Work, { session, run }: ToolCaller): Promise<void> {
  if (await hasLiveChild(work.tx, session.row.id, run.thread)) return;
  throw new Refusal(
    "conflict",
    "nothing_to_wait_for",
    "You have no live child session in this conversation and no pending events: nothing would wake you. Say what you have to say and end your turn, or give a time.",
  );
}

function allEnded(): Refusal {
  return new Refusal(
    "conflict",
    "worker_not_live",
    "All of these sessions have ended: no more events will come. List your children to see which are live.",
  );
}

function notifiedElsewhere(): Refusal {
  return new Refusal(
    "conflict",
    "worker_heard_elsewhere",
    "These sessions belong to another of your conversations, which is notified of them. Read them with read_messages, or spawn your own.",
  );
}
