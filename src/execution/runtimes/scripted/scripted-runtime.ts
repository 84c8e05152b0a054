/**
 * Plays the steps of its prompt, line by line: a runtime without a model, for tests and
 * demonstrations. Every item it journals carries the line of its step, so that a later attempt
 * continues behind the last line that left a trace.
 */
import { type Clock, systemClock } from "#base/clock.ts";
import {
  INTERRUPTED,
  type Runtime,
  type ToolAnswer,
  type Turn,
  type TurnEnd,
} from "#execution/runtimes/runtime.ts";
import type { JournalItem } from "#protocol/events.ts";
import { parseScript, ScriptError, type Step } from "./script.ts";

export interface ScriptedRuntimeOptions {
  clock?: Clock;
  /** Action of the `crash` step. Without it the step does not exist: a prompt must not end a runner. */
  crash?: () => void;
}

const NO_CRASH = {
  code: "crash_not_allowed",
  message: "Only a runner that is started with MUSTER_TEST_CRASH=true lets a script end it.",
};

/** Result of a step: items to journal, and the end of the turn if the script goes no further. */
interface StepResult {
  items: JournalItem[];
  end?: TurnEnd;
}

interface Stage {
  turn: Turn;
  clock: Clock;
  crash: (() => void) | undefined;
}

export function createScriptedRuntime({
  clock = systemClock,
  crash,
}: ScriptedRuntimeOptions = {}): Runtime {
  return {
    name: "scripted",
    runTurn: (turn) => play({ turn, clock, crash }),
  };
}

async function play(stage: Stage): Promise<TurnEnd> {
  const { turn } = stage;
  let steps: Step[];
  try {
    steps = parseScript(turn.assignment.content);
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    return { outcome: "failed", error: { code: "script_error", message: error.message } };
  }
  const unanswered = answerInterrupted(turn);
  if (unanswered.length > 0) await turn.append(...unanswered);
  const doneLine = Math.max(-1, ...turn.journaled.map((item) => item.step ?? -1));
  const remaining = steps.filter((step) => step.line > doneLine);
  return playSteps(stage, remaining);
}

async function playSteps(stage: Stage, steps: Step[]): Promise<TurnEnd> {
  const { turn } = stage;
  let result = lastText(turn.journaled);
  let items: JournalItem[] = [];
  for (const step of steps) {
    // Items of the previous step are durable before this one acts; those of the last step travel
    // with the end.
    if (items.length > 0) await turn.append(...items);
    items = [];
    if (turn.signal.aborted) return { outcome: "aborted" };
    const done = await playStep(stage, step);
    items = done.items;
    result = lastText(items) ?? result;
    if (done.end) return { ...done.end, items };
  }
  return { outcome: "completed", items, ...(result === undefined ? {} : { result }) };
}

async function playStep(stage: Stage, step: Step): Promise<StepResult> {
  const { turn, clock } = stage;
  switch (step.op) {
    case "say":
    case "think":
      return emitText(turn, step.op === "say" ? "text" : "reasoning", step.text, step.line);
    case "sleep":
      await clock.sleep(step.delayMs, turn.signal);
      return turn.signal.aborted ? { items: [], end: { outcome: "aborted" } } : { items: [] };
    case "stream":
      return stream(stage, step);
    case "tool":
      return callTool(turn, step);
    case "fail":
      return {
        items: [],
        end: { outcome: "failed", error: { code: "script_failed", message: step.text } },
      };
    case "hang":
      await aborted(turn.signal);
      return { items: [], end: { outcome: "aborted" } };
    case "crash":
      if (!stage.crash) return { items: [], end: { outcome: "failed", error: NO_CRASH } };
      // A crash leaves no trace, so every attempt ends here, as with a poisonous prompt.
      stage.crash();
      return { items: [] };
  }
}

async function emitText(
  turn: Turn,
  kind: "text" | "reasoning",
  text: string,
  step: number,
): Promise<StepResult> {
  await turn.step();
  const entryId = turn.entryId();
  turn.delta({ entryId, kind, text });
  return { items: [{ type: "message", entryId, kind, text, step }] };
}

async function stream(
  { turn, clock }: Stage,
  step: Extract<Step, { op: "stream" }>,
): Promise<StepResult> {
  await turn.step();
  const entryId = turn.entryId();
  let text = "";
  for (let token = 1; token <= step.tokens && !turn.signal.aborted; token++) {
    const piece = token === 1 ? "token1" : ` token${token}`;
    text += piece;
    turn.delta({ entryId, kind: "text", text: piece });
    if (step.everyMs > 0 && token < step.tokens) await clock.sleep(step.everyMs, turn.signal);
  }
  const item = { type: "message", entryId, kind: "text", text, step: step.line } as const;
  if (!turn.signal.aborted) return { items: [item] };
  return { items: text === "" ? [] : [{ ...item, partial: true }], end: { outcome: "aborted" } };
}

async function callTool(turn: Turn, step: Extract<Step, { op: "tool" }>): Promise<StepResult> {
  const call = {
    callId: `${turn.assignment.promptId}:${step.line}`,
    tool: step.name,
    input: step.input,
    step: step.line,
  };
  await turn.append({ type: "pre_tool", entryId: turn.entryId(), ...call, authorise: true });
  await turn.step();
  const startedAt = performance.now();
  const answer = await Promise.race([
    turn.callTool(call.callId, step.name, step.input),
    abortedUnlessSteered(turn.signal),
  ]);
  const { output, error }: ToolAnswer = answer ?? { output: null, error: INTERRUPTED };
  const durationMs = Math.round(performance.now() - startedAt);
  const items: JournalItem[] = [
    { type: "post_tool", entryId: turn.entryId(), ...call, output, error, durationMs },
  ];
  return answer === null ? { items, end: { outcome: "aborted" } } : { items };
}

/** Answers for calls whose attempt was lost while they were under way. */
function answerInterrupted(turn: Turn): JournalItem[] {
  const answered = new Set(
    turn.journaled.flatMap((item) => (item.type === "post_tool" ? [item.callId] : [])),
  );
  return turn.journaled.flatMap((item): JournalItem[] => {
    if (item.type !== "pre_tool" || answered.has(item.callId)) return [];
    return [
      { ...item, type: "post_tool", entryId: turn.entryId(), output: null, error: INTERRUPTED },
    ];
  });
}

function lastText(items: readonly JournalItem[]): string | undefined {
  const last = items.findLast((item) => item.type === "message" && item.kind === "text");
  return last?.type === "message" ? last.text : undefined;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** A steered turn lets a running tool finish; the runner limits how long. */
async function abortedUnlessSteered(signal: AbortSignal): Promise<null> {
  await aborted(signal);
  return signal.reason === "steer" ? new Promise<never>(() => {}) : null;
}
