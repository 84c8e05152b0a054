/**
 * The one path of every tool call after its verdict: perform it within its limits, redact secrets,
 * shorten, journal. The output of a tool never reaches the model or the log in another way.
 */
import { Refusal } from "#base/refusal.ts";
import type { Redactor } from "#execution/tools/output/redact.ts";
import type {
  RunnerTools,
  SessionRepository,
  ToolContext,
  ToolOutcome,
} from "#execution/tools/tool.ts";
import type { Workspace } from "#execution/workspaces/workspace.ts";
import { INTERRUPTED } from "#protocol/events.ts";
import type { Decision } from "#protocol/frames.ts";
import { LeaseLost, type Turn, type Verdicts } from "../../runtime.ts";
import type { PostTool } from "../conversation/conversation.ts";
import { type Call, endsTurn, groupCalls, type NextStep, needsSandbox, nextStep } from "./calls.ts";

export interface Performer {
  turn: Turn;
  tools: RunnerTools;
  redact: Redactor;
  /** Opens the workspace for a call of this tool. */
  workspace(tool: string): Promise<Workspace>;
  repository: SessionRepository | undefined;
  /** Aborts when a running tool must end. */
  signal: AbortSignal;
  decisions: ReadonlyMap<string, Decision>;
  /** Calls that no attempt has begun, though the journal reads as if one might have. */
  notBegun: ReadonlySet<string>;
  /** Reason why commands cannot be run now; null when they can. */
  sandboxRefusal(): Refusal | null;
  isSandboxed(): boolean;
  /** Called with each result, once it is durable. */
  done(result: PostTool): void;
}

export type Performed =
  | { park: string }
  | { stopped: boolean }
  | { ended: true }
  /** None of these calls was begun. */
  | { refusal: Refusal; notBegun: string[] };

/** Performs calls in groups; `answered` holds the results that some of them have already. */
export async function performCalls(
  performer: Performer,
  calls: readonly Call[],
  answered: readonly PostTool[],
): Promise<Performed> {
  const { turn } = performer;
  const all = [...answered];
  const isAnswered = ({ item }: Call) => answered.some(({ callId }) => callId === item.callId);
  const groups = groupCalls(calls);
  let denied: Verdicts = {};
  for (const [at, group] of groups.entries()) {
    const open = group.filter((call) => !isAnswered(call)).map((call) => withDenial(call, denied));
    if (open.length === 0) continue;
    if (turn.signal.aborted) return { stopped: true };
    // Nobody is asked about a call before there is a sandbox to perform it in.
    const refusal = performer.sandboxRefusal();
    if (refusal && open.some((call) => waitsForSandbox(performer, call)))
      return { refusal, notBegun: open.map(({ item }) => item.callId) };
    const parked = open.find((call) => stepOf(performer, call).do === "park");
    if (parked) return { park: parked.item.callId };
    await turn.step();
    const results = await Promise.all(open.map((call) => performOne(performer, call)));
    // Time has passed since these calls were judged.
    const recheck = (groups[at + 1] ?? []).filter(isToPerform).map(({ item }) => item.callId);
    denied = await turn.append(...withRecheck(results, recheck));
    for (const result of results) performer.done(result);
    all.push(...results);
  }
  return endsTurn(all) ? { ended: true } : { stopped: turn.signal.aborted };
}

function isToPerform({ verdict }: Call): boolean {
  return verdict.verdict === "allow";
}

function withRecheck(results: readonly PostTool[], recheck: string[]): PostTool[] {
  const [first, ...others] = results;
  return first && recheck.length > 0 ? [{ ...first, recheck }, ...others] : [...results];
}

function withDenial(call: Call, denied: Verdicts): Call {
  const verdict = denied[call.item.callId];
  return verdict ? { ...call, verdict } : call;
}

function stepOf({ decisions, notBegun, isSandboxed }: Performer, call: Call): NextStep {
  const circumstances = { isSandboxed: isSandboxed(), notBegun };
  return nextStep(call, decisions.get(call.item.callId), circumstances);
}

function waitsForSandbox({ decisions, notBegun }: Performer, call: Call): boolean {
  // Decided as with a sandbox: a call that is only answered needs none.
  const circumstances = { isSandboxed: true, notBegun };
  const next = nextStep(call, decisions.get(call.item.callId), circumstances);
  return next.do !== "answer" && needsSandbox(call.item.tool);
}

async function performOne(performer: Performer, call: Call): Promise<PostTool> {
  const { turn } = performer;
  const { item } = call;
  const next = stepOf(performer, call);
  const startedAt = performance.now();
  const entryId = turn.entryId();
  const outcome: ToolOutcome =
    next.do === "answer"
      ? { output: next.output ?? "", error: next.error }
      : await perform(performer, call, entryId);
  const { output, truncated } = bound(
    performer.redact(outcome.output),
    turn.assignment.limits.outputBytes,
  );
  const images = await keepImages(turn, outcome);
  return {
    type: "post_tool",
    entryId,
    callId: item.callId,
    tool: item.tool,
    input: item.input,
    output,
    error: outcome.error === null ? null : performer.redact(outcome.error),
    exitCode: outcome.exitCode ?? null,
    durationMs: Math.round(performance.now() - startedAt),
    truncated: truncated || outcome.spilled !== undefined,
    ...(isAnsweredOnly(next) ? { performed: false } : {}),
    ...(images.length > 0 ? { images } : {}),
    ...(outcome.endsTurn ? { endsTurn: true } : {}),
    ...(item.step === undefined ? {} : { step: item.step }),
  };
}

/**
 * True for a call that was not performed; a person's answer to a question is that call's own
 * result.
 */
function isAnsweredOnly(next: NextStep): boolean {
  return next.do === "answer" && next.error !== null && next.error !== INTERRUPTED;
}

/** Performs a call; its growing output is shown under `entryId`, that of the result to come. */
async function perform(
  performer: Performer,
  { item }: Call,
  entryId: string,
): Promise<ToolOutcome> {
  const { turn, tools, workspace, signal } = performer;
  const tool = tools.get(item.tool);
  if (!tool) {
    const {
      output,
      error,
      endsTurn = false,
    } = await turn.callTool(item.callId, item.tool, item.input);
    const text = typeof output === "string" ? output : JSON.stringify(output ?? "");
    return { output: text, error, endsTurn };
  }
  const context: ToolContext = {
    sessionId: turn.assignment.sessionId,
    callId: item.callId,
    cwd: item.cwd ?? null,
    workspace: () => workspace(item.tool),
    repository: performer.repository,
    signal,
    progress: (text) => turn.delta({ entryId, kind: "tool_call", text: performer.redact(text) }),
  };
  try {
    return await tool.perform(context, item.input);
  } catch (error) {
    if (error instanceof LeaseLost) throw error;
    if (error instanceof Refusal) return { output: "", error: error.message };
    // A bug of ours in one tool need not end the turn: the model can take another way.
    turn.log.error({ err: error, tool: item.tool }, "a tool failed unexpectedly");
    return { output: "", error: `${item.tool} failed unexpectedly. Try it another way.` };
  }
}

async function keepImages(turn: Turn, { images = [] }: ToolOutcome) {
  return Promise.all(
    images.map(async (image) => ({
      sha256: await turn.keepBlob(image),
      mediaType: image.mediaType,
    })),
  );
}

/** The last guard: whatever a tool does, no more than this goes into the log. */
function bound(text: string, maxBytes: number): { output: string; truncated: boolean } {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes * BOUND_SLACK)
    return { output: text, truncated: false };
  const half = Math.floor(maxBytes / 2);
  const bytes = Buffer.from(text);
  const cut = bytes.length - 2 * half;
  const head = bytes.subarray(0, half).toString("utf8");
  const tail = bytes.subarray(bytes.length - half).toString("utf8");
  return { output: `${head}\n[… ${cut} bytes left out …]\n${tail}`, truncated: true };
}

/**
 * Tools shorten by themselves and name where the rest is; their notes may exceed the limit a
 * little.
 */
const BOUND_SLACK = 1.2;
