/** Tools that send prompts and wait for the outcome. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import { cleanText } from "#base/text/clean-text.ts";
import { may } from "#engine/index.ts";
import {
  MAIN_THREAD,
  MAX_PROMPT_CHARS,
  type Prompt,
  QUEUE_MODES,
  type Session,
} from "#protocol/sessions.ts";
import { requireId } from "#surfaces/http/input.ts";
import { type PersonCall, type PersonTool, personTool, resolveSession } from "./person-tool.ts";
import { failed, succeeded } from "./toolbox.ts";
import { namesOf, waitForNext } from "./wait-for-delegated.ts";
import { waitForPrompt } from "./wait-for-prompt.ts";

/** Less than the minute after which many clients time out. */
const WAIT_SECONDS = 50;
const MAX_WAIT_SECONDS = 600;
/** A prompt that was merged into another is followed there; a few times is plenty. */
const MAX_MERGES = 5;
const MAX_ANSWER_CHARS = 100_000;

const content = z.string().min(1).max(MAX_PROMPT_CHARS).transform(cleanText);
const waiting = {
  wait: z.boolean().optional().describe("Wait for the answer."),
  timeoutSeconds: z
    .number()
    .int()
    .min(1)
    .max(MAX_WAIT_SECONDS)
    .optional()
    .describe(`How long to wait. Default: ${WAIT_SECONDS}. The work continues anyway.`),
};

export const askTools: readonly PersonTool[] = [
  personTool({
    name: "ask_orchestrator",
    title: "Ask my orchestrator",
    description:
      "Sends a message to the person's own orchestrator, a lasting agent that knows their work and delegates to other agents, and waits for its answer unless wait is false; it also waits while the orchestrator waits for its child sessions. If it takes longer, get the answer with wait_for_answer.",
    schema: z.strictObject({ message: content, ...waiting }),
    action: "session.prompt",
    readOnly: false,
    repeatable: true,
    waits: true,
    async handle(call, { message, wait = true, timeoutSeconds }) {
      const prompt = await call.parts.promptOrchestrator(call.person, message, call.callId);
      return wait ? waitFor(call, prompt, timeoutSeconds) : sent(prompt);
    },
  }),
  personTool({
    name: "prompt_session",
    title: "Prompt a session",
    description:
      "Sends a prompt to one of the person's sessions. While the session works, followup queues it, steer interrupts the running turn and goes next, interrupt does so at once, collect merges what arrives within seconds. Does not wait for the answer unless wait is true.",
    schema: z.strictObject({
      sessionId: z
        .string()
        .max(200)
        .describe("A session id, or orchestrator for the person's own."),
      content,
      mode: z.enum(QUEUE_MODES).optional(),
      ...waiting,
    }),
    action: "session.prompt",
    readOnly: false,
    repeatable: true,
    waits: true,
    async handle(call, { sessionId, content: text, mode, wait = false, timeoutSeconds }) {
      const { parts, person, callId: dispatchId } = call;
      const prompt = await parts.kernel.prompts.admit(person, resolveSession(sessionId, person), {
        content: text,
        thread: MAIN_THREAD,
        mode,
        dispatchId,
        attachments: [],
      });
      return wait ? waitFor(call, prompt, timeoutSeconds) : sent(prompt);
    },
  }),
  personTool({
    name: "wait_for_answer",
    title: "Wait for an answer",
    description:
      "Waits for the answer to a prompt sent with ask_orchestrator or prompt_session, or returns it at once if it is there.",
    schema: z.strictObject({
      promptId: z.string().max(200),
      timeoutSeconds: waiting.timeoutSeconds,
    }),
    action: "session.read",
    readOnly: true,
    waits: true,
    async handle(call, { promptId, timeoutSeconds }) {
      const { prompts } = call.parts.kernel;
      const prompt = await prompts.get(call.person, requireId(promptId, "prompt"));
      return waitFor(call, prompt, timeoutSeconds);
    },
  }),
];

function sent({ id, sessionId, state }: Prompt): CallToolResult {
  return succeeded({
    promptId: id,
    sessionId,
    state,
    next: "Sent. Get the answer with wait_for_answer when you need it.",
  });
}

async function waitFor(
  call: PersonCall,
  prompt: Prompt,
  timeoutSeconds = WAIT_SECONDS,
): Promise<CallToolResult> {
  const { parts, person } = call;
  // A key that may write and not read has sent the prompt, and gets no more.
  if (!may(person, "session.read", { orgId: person.orgId })) return sent(prompt);
  const until = parts.clock.now() + timeoutSeconds * 1_000;
  let now = prompt;
  for (let merges = 0; merges <= MAX_MERGES; merges++) {
    const leftMs = Math.max(0, until - parts.clock.now());
    now = await waitForPrompt(parts, person, now, leftMs, call);
    if (now.mergedInto === null) break;
    now = await parts.kernel.prompts.get(person, now.mergedInto);
  }
  const end =
    now.state === "settled" ? await followToEnd(call, now, until) : { prompt: now, texts: [] };
  if (!(await call.isStillGood()))
    throw new Refusal("unauthenticated", "unauthenticated", "The key was revoked in the meantime.");
  if (end.children !== undefined || (end.prompt.state !== "settled" && end.prompt.id !== now.id))
    return delegatedResult(now, end);
  return end.prompt.state === "settled" ? answerOf(now, end) : stillWorking(end.prompt);
}

interface FollowResult {
  /** The turn with the reply, as far as it has come. */
  prompt: Prompt;
  /** Text of that turn, and of earlier turns that ended by waiting. */
  texts: string[];
  /** Children that are still at work. */
  children?: Session[];
}

/** Follows from a turn that ended by waiting to the next one, until one has ended for good. */
async function followToEnd(call: PersonCall, first: Prompt, until: number): Promise<FollowResult> {
  const { parts, person } = call;
  const texts: string[] = [];
  let prompt = first;
  for (;;) {
    if (prompt.state !== "settled" || prompt.outcome !== "completed") return { prompt, texts };
    const run =
      prompt.runId === null ? undefined : await parts.kernel.runs.get(person, prompt.runId);
    texts.push(run?.result ?? "");
    if (prompt.endedWaitingFor === null) return { prompt, texts };
    const left = () => Math.max(0, until - parts.clock.now());
    const next = await waitForNext(call, prompt, left());
    if (next === null) return { prompt, texts };
    if ("children" in next) return { prompt, texts, children: next.children };
    prompt = await waitForPrompt(parts, person, next.prompt, left(), call);
  }
}

function stillWorking({ id, sessionId, state, waitingFor }: Prompt): CallToolResult {
  return succeeded({
    promptId: id,
    sessionId,
    state,
    waitingFor: waitingFor?.message ?? null,
    next: "No answer yet; the work continues. Call wait_for_answer with this promptId.",
  });
}

/** Result for a turn that has ended while its reply is still to come. */
function delegatedResult(
  { id, sessionId }: Prompt,
  { texts, children = [] }: FollowResult,
): CallToolResult {
  return succeeded({
    promptId: id,
    sessionId,
    state: "waiting",
    waitingFor: "children",
    children: children.map(({ id: childId, title, activity }) => ({
      sessionId: childId,
      title,
      activity,
    })),
    said: textOf(texts),
    next: `The work is delegated and not done yet${children.length > 0 ? `; waiting for ${namesOf(children)}` : ""}. Call wait_for_answer with this promptId for the answer. A child that is needs_you waits for the person: list_approvals shows why.`,
  });
}

function answerOf(
  { id: promptId, sessionId }: Prompt,
  { prompt, texts }: FollowResult,
): CallToolResult {
  const { outcome, error } = prompt;
  if (outcome !== "completed")
    return failed(
      `${error?.code ?? outcome}: The turn ended ${outcome}. ${error?.message ?? `Look at it with read_session (${sessionId}).`}`,
    );
  // A turn that added nothing leaves the earlier text as the reply.
  const answer = textOf(texts.slice(-1)) || textOf(texts);
  return succeeded({ promptId, sessionId, outcome, answer });
}

function textOf(texts: readonly string[]): string {
  return texts
    .filter((text) => text.trim() !== "")
    .join("\n\n")
    .slice(0, MAX_ANSWER_CHARS);
}
