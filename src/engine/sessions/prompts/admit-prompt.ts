/**
 * Admission: takes a prompt into a thread, durably, and decides its place in the queue. Admission
 * never waits for a runner, a sandbox or a model.
 */
import { Refusal } from "#base/refusal.ts";
import { cleanJson, cleanText } from "#base/text/clean-text.ts";
import type { GateDecision } from "#engine/gates/decision.ts";
import { decideGate } from "#engine/gates/gates.ts";
import { findOpenQuestion } from "#engine/gates/queries.ts";
import { answersInWords } from "#engine/gates/question-text.ts";
import { deliverNow } from "#engine/notices/deliver-at-end.ts";
import { deleteRun, listLiveRuns } from "#engine/runs/queries.ts";
import type { RunOptions } from "#engine/runs/run-options.ts";
import type { GateRow, PromptRow, RunRow, SessionRow } from "#engine/schema.ts";
import { setTimer } from "#engine/timers/timers.ts";
import { admittedPrompt } from "#engine/transitions/prompt-transitions.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import { isGuestTurn } from "#protocol/notices/guests.ts";
import type { Notice } from "#protocol/notices/notices.ts";
import { type Author, MAIN_THREAD, type Origin, type QueueMode } from "#protocol/sessions.ts";
import { findThread, insertThread } from "../queries.ts";
import { cutTurn } from "../turns/cut-turn.ts";
import { pump, settlePrompt } from "../turns/turns.ts";
import { type BlobInput, hashOf, keepAttachments } from "./attachments.ts";
import { endAwaiting } from "./awaiting.ts";
import { isClear } from "./clear-context.ts";
import { flushCollected } from "./collect.ts";
import {
  countWaiting,
  findPrompt,
  findPromptByCause,
  findPromptByDispatch,
  insertPrompt,
  listCollecting,
} from "./prompt-queries.ts";
import { decideArrival, MAX_WAITING, type QueueDecision, RANK_NORMAL } from "./prompt-queue.ts";
import { wakeOrRefuse } from "./wake-or-refuse.ts";

export const COLLECT_TIMER = "collect";

const QUEUE_FULL = `${MAX_WAITING} prompts are queued in this thread. Wait for one to finish, or withdraw some.`;

export interface NewPrompt {
  id: string;
  runId: string;
  content: string;
  thread: string;
  /** Undefined for the session's own queue mode. */
  mode: QueueMode | undefined;
  author: Author;
  origin: Origin;
  createdBy: string;
  dispatchId: string | null;
  /** Cause of a prompt that the system sends: the same cause is admitted once. */
  causeKey: string | null;
  /** True when the cause arose in this very command, so it cannot have been admitted before. */
  isNew?: boolean;
  attachments: readonly BlobInput[];
  runOptions: RunOptions | null;
  /** Notice that `content` renders; see `notices/`. */
  notice?: Notice;
  /** True when a guest's words began it. */
  isGuest?: boolean;
  /** True when its sender may answer this session's questions: the prompt answers an open one. */
  mayAnswer?: boolean;
  /** Age of the prompt: it answers no question that was asked after it was written. */
  writtenMsAgo?: number;
}

export interface Admission {
  prompt: PromptRow;
  /** True when this very prompt had been admitted before. */
  repeated: boolean;
}

/**
 * Admits a prompt of a person or an agent into a locked session, which must accept prompts. One
 * that sleeps is woken first, and gets the notices that it missed before the prompt.
 */
export async function admitPrompt(
  work: Work,
  session: SessionWriter,
  input: NewPrompt,
): Promise<Admission> {
  const contentHash = hashOf(input);
  const repeated = await findRepeated(work, session.row.id, input, contentHash);
  if (repeated) return repeated;
  if (session.row.lifecycle !== "active") {
    await wakeOrRefuse(work, session, input.author.kind);
    await deliverNow(work, session.row.id);
  }
  return admit(work, session, input, contentHash);
}

/**
 * Admits a prompt of the platform into a locked session. It may wake the session; everything else
 * that the session missed follows at the end of the command, so that no notice is admitted inside
 * the admission of another.
 */
export async function admitSystemPrompt(
  work: Work,
  session: SessionWriter,
  input: NewPrompt,
): Promise<Admission> {
  const contentHash = hashOf(input);
  const repeated = await findRepeated(work, session.row.id, input, contentHash);
  if (repeated) return repeated;
  await wakeOrRefuse(work, session, input.author.kind);
  return admit(work, session, input, contentHash);
}

async function findRepeated(
  work: Work,
  sessionId: string,
  input: NewPrompt,
  contentHash: string,
): Promise<Admission | undefined> {
  const earlier = input.isNew ? undefined : await findEarlier(work, sessionId, input);
  if (!earlier) return undefined;
  if (earlier.content_hash === contentHash) return { prompt: earlier, repeated: true };
  throw new Refusal(
    "conflict",
    "dispatch_conflict",
    "This dispatchId was used for different content. Use a new dispatchId for a new prompt.",
  );
}

async function admit(
  work: Work,
  session: SessionWriter,
  input: NewPrompt,
  contentHash: string,
): Promise<Admission> {
  const { row } = session;
  endAwaiting(row);
  await ensureThread(work, row, input.thread);
  const question = await findQuestionFor(work, row, input);
  if (question) return answerQuestion(work, session, input, question, contentHash);

  const live = await findBlockingRuns(work, row, input.thread);
  const decision = await decide(work, session, input, live);
  if (decision.kind === "refuse") {
    throw new Refusal("limit", "queue_full", QUEUE_FULL, { retryAfterMs: 5_000 });
  }
  const prompt = await newPrompt(work, row, input, contentHash, decision);
  await enter(work, session, prompt, input.author);
  await carryOut(work, session, prompt, decision, live);
  await work.emit({ type: "prompt_admitted", session, prompt });
  return { prompt, repeated: false };
}

async function enter(
  work: Work,
  session: SessionWriter,
  prompt: PromptRow,
  author: Author,
): Promise<void> {
  await insertPrompt(work.tx, prompt);
  session.row.waiting += 1;
  session.row.prompts_total += 1;
  session.record({
    type: "prompt_accepted",
    thread: prompt.thread,
    promptId: prompt.id,
    data: { mode: prompt.mode, state: prompt.state, author },
  });
}

/**
 * Attachments, commands and prompts that cut a turn are no answers. Nor is a prompt to a turn that
 * somebody else's words began: that turn may pass on what it reads.
 */
async function findQuestionFor(
  work: Work,
  row: SessionRow,
  {
    mayAnswer = false,
    writtenMsAgo = 0,
    mode,
    thread,
    content,
    attachments,
    runOptions,
  }: NewPrompt,
): Promise<GateRow | undefined> {
  const cuts = mode === "steer" || mode === "interrupt";
  if (!mayAnswer || cuts || row.run_state === null || attachments.length > 0) return undefined;
  if (runOptions !== null || isClear(content)) return undefined;
  const gate = await findOpenQuestion(work.tx, { sessionId: row.id, thread, now: work.now });
  if (!gate || gate.asked_at > work.now - writtenMsAgo) return undefined;
  const asking = await findPrompt(work.tx, gate.prompt_id);
  return asking && !isGuestTurn(gate.thread, asking) ? gate : undefined;
}

const NEXT_IN_LINE: QueueDecision = {
  kind: "queue",
  rank: RANK_NORMAL,
  flushBuffer: false,
  cut: null,
  putBackUnclaimed: false,
};

/** The turn that asked continues with these words, so the prompt becomes part of that turn. */
async function answerQuestion(
  work: Work,
  session: SessionWriter,
  input: NewPrompt,
  gate: GateRow,
  contentHash: string,
): Promise<Admission> {
  const answers = answersInWords(gate, cleanText(input.content));
  const prompt = await newPrompt(work, session.row, input, contentHash, NEXT_IN_LINE);
  await enter(work, session, prompt, input.author);
  await work.emit({ type: "prompt_admitted", session, prompt });
  const decision: GateDecision = {
    allowed: true,
    reason: null,
    answers,
    scope: "once",
    promptId: prompt.id,
  };
  await decideGate(work, gate.id, decision, input.author.id);
  const settled = {
    outcome: "merged",
    mergedInto: gate.prompt_id,
    answeredGate: gate.id,
  } as const;
  await settlePrompt(work, session, prompt, null, settled);
  return { prompt, repeated: false };
}

async function carryOut(
  work: Work,
  session: SessionWriter,
  prompt: PromptRow,
  decision: Exclude<QueueDecision, { kind: "refuse" }>,
  live: RunRow | undefined,
): Promise<void> {
  if (decision.kind === "hold") {
    await setTimer(
      work,
      COLLECT_TIMER,
      `${session.row.id}/${prompt.thread}`,
      session.row.org_id,
      decision.dueAt,
    );
    return;
  }
  if (decision.flushBuffer) await flushCollected(work, session, prompt.thread, prompt.position);
  if (live && decision.putBackUnclaimed) {
    await deleteRun(work.tx, live.id);
    await pump(work, session, session.row.exclusive === 1 ? [] : undefined);
    return;
  }
  if (live && decision.cut) await cutTurn(work, session, live, decision.cut, prompt.id);
  else if (!live) await pump(work, session, undefined, prompt);
}

function findEarlier(
  work: Work,
  sessionId: string,
  input: NewPrompt,
): Promise<PromptRow | undefined> {
  if (input.causeKey !== null) return findPromptByCause(work.tx, input.causeKey);
  if (input.dispatchId !== null) return findPromptByDispatch(work.tx, sessionId, input.dispatchId);
  return findPrompt(work.tx, input.id);
}

async function ensureThread(work: Work, session: SessionRow, name: string): Promise<void> {
  if (name === MAIN_THREAD && session.prompts_total > 0) return;
  if (await findThread(work.tx, session.id, name)) return;
  await insertThread(work.tx, {
    id: work.ids.mint("thr"),
    org_id: session.org_id,
    session_id: session.id,
    name,
    context_after_seq: 0,
    summary: null,
    summary_through_seq: 0,
    summary_failures: 0,
    summary_retry_at: 0,
    created_at: work.now,
  });
}

async function findBlockingRuns(
  work: Work,
  session: SessionRow,
  thread: string,
): Promise<RunRow | undefined> {
  if (session.run_state === null) return undefined;
  const live = await listLiveRuns(work.tx, session.id);
  return session.exclusive === 1 ? live[0] : live.find((run) => run.thread === thread);
}

async function decide(
  work: Work,
  session: SessionWriter,
  input: NewPrompt,
  live: RunRow | undefined,
): Promise<QueueDecision> {
  const { row } = session;
  const mode = input.mode ?? row.queue_mode;
  const waiting = row.waiting === 0 ? 0 : await countWaiting(work.tx, row.id, input.thread);
  // A prompt that follows from an event is never refused: a refusal would undo the event.
  const counted = input.causeKey === null ? waiting : 0;
  const collecting = waiting === 0 ? [] : await listCollecting(work.tx, row.id, input.thread);
  const wantsCut = mode === "steer" || mode === "interrupt";
  const cutting = live && wantsCut ? await findPrompt(work.tx, live.prompt_id) : undefined;
  return decideArrival(
    {
      live: live
        ? {
            // A run that waits for another attempt has begun: its prompt cannot go back to the
            // queue.
            claimed: live.state !== "pending" || live.fence > 0,
            cutting: live.state === "stopping",
            authorKey: cutting ? `${cutting.author_kind}:${cutting.author_id}` : "",
          }
        : null,
      waiting: counted,
      collectingSince: collecting[0]?.accepted_at ?? null,
      now: work.now,
    },
    {
      mode,
      authorKey: `${input.author.kind}:${input.author.id}`,
      mayCutAnyone: mayCutAnyone(row, input.author),
    },
  );
}

function mayCutAnyone(session: SessionRow, author: Author): boolean {
  if (author.kind === "user") return author.id === session.owner_id;
  return author.kind === "session" && author.id === session.parent_session_id;
}

async function newPrompt(
  work: Work,
  session: SessionRow,
  input: NewPrompt,
  contentHash: string,
  decision: QueueDecision,
): Promise<PromptRow> {
  session.next_position += 1;
  return {
    id: input.id,
    org_id: session.org_id,
    owner_id: session.owner_id,
    created_by: input.createdBy,
    session_id: session.id,
    thread: input.thread,
    author_kind: input.author.kind,
    author_id: input.author.id,
    author_name: input.author.name,
    origin: cleanJson(input.origin),
    mode: input.mode ?? session.queue_mode,
    ...admittedPrompt(work.now, { collects: decision.kind === "hold" }),
    rank: decision.kind === "queue" ? decision.rank : RANK_NORMAL,
    position: session.next_position,
    content: cleanText(input.content),
    notice: input.notice ? cleanJson(input.notice) : null,
    is_guest: input.isGuest ? 1 : 0,
    attachments: cleanJson(await keepAttachments(work, session, input.attachments)),
    content_hash: contentHash,
    dispatch_id: input.dispatchId,
    cause_key: input.causeKey,
    run_id: input.runId,
    run_options: input.runOptions && JSON.stringify(input.runOptions),
    attempts: 0,
    error_code: null,
    error_message: null,
    accepted_at: work.now,
    ended_waiting_for: null,
  };
}
