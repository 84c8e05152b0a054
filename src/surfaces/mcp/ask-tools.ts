/** Sending prompts, and waiting for what comes of them. */
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import { cleanText } from "#base/text.ts";
import { may } from "#engine/index.ts";
import { MAIN_THREAD } from "#engine/sessions/index.ts";
import { type Prompt, QUEUE_MODES } from "#protocol/sessions.ts";
import { MAX_PROMPT_CHARS, requireId } from "#surfaces/http/input.ts";
import { type PersonCall, type PersonTool, personTool } from "./person-tool.ts";
import { failed, succeeded } from "./toolbox.ts";
import { waitForPrompt } from "./wait-for-prompt.ts";

/** Below the minute after which many clients give up on a request. */
const WAIT_SECONDS = 50;
const MAX_WAIT_SECONDS = 600;
/** A prompt that was collected into another is followed there; a few times is plenty. */
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
    .describe(`How long to wait; ${WAIT_SECONDS} if not said. The work goes on all the same.`),
};

export const askTools: readonly PersonTool[] = [
  personTool({
    name: "ask_orchestrator",
    title: "Ask my orchestrator",
    description:
      "Sends a message to the person's own orchestrator, a lasting agent that knows their work and delegates to other agents, and waits for its answer unless wait is false. If it takes longer, ask for the answer with wait_for_answer.",
    schema: z.strictObject({ message: content, ...waiting }),
    action: "session.prompt",
    readOnly: false,
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
      "Sends a prompt to one of the person's sessions. While it works, followup waits for its turn, steer cuts the running turn and goes next, interrupt does so at once, collect gathers what comes within seconds. Does not wait for the answer unless wait is true.",
    schema: z.strictObject({
      sessionId: z.string().max(200),
      content,
      mode: z.enum(QUEUE_MODES).optional(),
      ...waiting,
    }),
    action: "session.prompt",
    readOnly: false,
    waits: true,
    async handle(call, { sessionId, content: text, mode, wait = false, timeoutSeconds }) {
      const { parts, person, callId: dispatchId } = call;
      const prompt = await parts.kernel.prompts.admit(person, requireId(sessionId, "session"), {
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
      "Waits for the answer to a prompt that was sent before with ask_orchestrator or prompt_session, or gives it at once if it is there.",
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
    next: "It was sent. Ask for the answer with wait_for_answer when you need it.",
  });
}

async function waitFor(
  call: PersonCall,
  prompt: Prompt,
  timeoutSeconds = WAIT_SECONDS,
): Promise<CallToolResult> {
  const { parts, person } = call;
  // A key that may write and not read has sent it, and is told no more.
  if (!may(person, "session.read", { orgId: person.orgId })) return sent(prompt);
  const until = parts.clock.now() + timeoutSeconds * 1_000;
  let now = prompt;
  for (let merges = 0; merges <= MAX_MERGES; merges++) {
    const leftMs = Math.max(0, until - parts.clock.now());
    now = await waitForPrompt(parts, person, now, leftMs, call);
    if (now.mergedInto === null) break;
    now = await parts.kernel.prompts.get(person, now.mergedInto);
  }
  if (!(await call.isStillGood()))
    throw new Refusal("unauthenticated", "unauthenticated", "The key was taken away meanwhile.");
  return now.state === "settled" ? answerOf(call, now) : stillWorking(now);
}

function stillWorking({ id, sessionId, state, waitingFor }: Prompt): CallToolResult {
  return succeeded({
    promptId: id,
    sessionId,
    state,
    waitingFor: waitingFor?.message ?? null,
    next: "It is not answered yet; the work goes on. Call wait_for_answer with this promptId.",
  });
}

async function answerOf({ parts, person }: PersonCall, prompt: Prompt): Promise<CallToolResult> {
  const { id: promptId, sessionId, outcome, error, runId } = prompt;
  if (outcome !== "completed")
    return failed(
      `${error?.code ?? outcome}: The turn ended ${outcome}. ${error?.message ?? `Look at it with read_session (${sessionId}).`}`,
    );
  const run = runId === null ? undefined : await parts.kernel.runs.get(person, runId);
  const answer = (run?.result ?? "").slice(0, MAX_ANSWER_CHARS);
  return succeeded({ promptId, sessionId, outcome, answer });
}
