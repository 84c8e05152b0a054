/**
 * One turn of the native agent. The outer loop makes requests; each response is consumed whole,
 * journaled with its calls (which judges them), and its calls are performed; then the next request,
 * until the model asks for nothing more. All state is in the journal: an attempt continues where
 * the one before it was lost, and repeats nothing.
 */
import type { Refusal } from "#base/refusal.ts";
import {
  type ModelFailure,
  type ModelPrice,
  type ModelProvider,
  type ModelResponse,
  TURN_OVER,
} from "#execution/models/model.ts";
import type { Redactor } from "#execution/tools/output/redact.ts";
import type { RunnerTools } from "#execution/tools/tool.ts";
import { INTERRUPTED, type JournalItem } from "#protocol/events.ts";
import type { Decision } from "#protocol/frames.ts";
import { type ToolDefinition, toolDefinition, workspaceTools } from "#protocol/tools.ts";
import type { Turn, TurnEnd, TurnOver, Verdicts } from "../runtime.ts";
import { askModel, type ShownText } from "./ask-model.ts";
import { type Call, type Resumption, TOO_MANY } from "./calls/calls.ts";
import { performCalls } from "./calls/perform-calls.ts";
import { CallIds, modelCallItem, responseItems } from "./calls/response-items.ts";
import type { Conversation, PostTool } from "./conversation/conversation.ts";
import { type TurnBounds, timeIsUp } from "./turn-limits.ts";
import type { TurnWorkspace } from "./turn-workspace.ts";

export interface LoopParts {
  turn: Turn;
  /** Progress of the turn, from the journal of earlier attempts. */
  resumption: Resumption;
  provider: ModelProvider;
  /** Whole id, and the part of it that the provider knows. */
  modelId: string;
  model: string;
  price: ModelPrice | null;
  system: string;
  conversation: Conversation;
  tools: RunnerTools;
  redact: Redactor;
  workspace: TurnWorkspace;
  bounds: TurnBounds;
}

const MAX_EMPTY = 2;
/** A shorter wait is not worth releasing the runner: the provider was asked again and again already. */
const PAUSE_BEYOND_MS = 60_000;
const MIN_PAUSE_MS = 30_000;
const MACHINE_PAUSE_MS = 10 * 60_000;

export class TurnLoop {
  readonly #parts: LoopParts;
  readonly #ids: CallIds;
  readonly #toolSignal = new AbortController();
  readonly #timeUp = new AbortController();
  readonly #requestSignal: AbortSignal;
  readonly #definitions: readonly ToolDefinition[];
  #step: number;
  #empty = 0;
  /** Text of the last response. */
  #said = "";

  constructor(parts: LoopParts) {
    const { turn } = parts;
    this.#parts = parts;
    this.#step = parts.resumption.lastStep;
    this.#said = parts.resumption.said;
    this.#definitions = definitionsOf(turn);
    this.#ids = new CallIds(turn.journaled, parts.conversation.messages);
    this.#requestSignal = AbortSignal.any([turn.signal, turn.killed, this.#timeUp.signal]);
    this.#endToolsWith(turn.signal, turn.killed);
  }

  /** A tool may finish when the turn is steered; otherwise it ends with the turn. */
  #endToolsWith(signal: AbortSignal, killed: AbortSignal): void {
    const end = () => this.#toolSignal.abort();
    this.#timeUp.signal.addEventListener("abort", end, { once: true });
    const onSignal = () => {
      if (signal.reason !== "steer") end();
    };
    if (signal.aborted) onSignal();
    else signal.addEventListener("abort", onSignal, { once: true });
    if (killed.aborted) end();
    else killed.addEventListener("abort", end, { once: true });
  }

  async run(): Promise<TurnEnd> {
    const { bounds } = this.#parts;
    const timer = setTimeout(() => this.#timeUp.abort(), bounds.remainingTimerMs);
    try {
      return await this.#run();
    } finally {
      clearTimeout(timer);
    }
  }

  async #run(): Promise<TurnEnd> {
    const { turn, bounds } = this.#parts;
    if (this.#parts.resumption.calls.length > 0) {
      const end = await this.#goOnWithCalls();
      if (end) return end;
    }
    for (;;) {
      if (turn.signal.aborted) return { outcome: "aborted" };
      const limit = bounds.reached(this.#step + 1);
      if (limit) return limit;
      const end = await this.#request();
      if (end) return end;
    }
  }

  async #goOnWithCalls(): Promise<TurnEnd | undefined> {
    const { turn, conversation, resumption } = this.#parts;
    const { calls, answered, interrupted } = resumption;
    const cut = interrupted.map(
      ({ item }): PostTool => ({
        type: "post_tool",
        entryId: turn.entryId(),
        callId: item.callId,
        tool: item.tool,
        input: item.input,
        output: null,
        error: INTERRUPTED,
        ...(item.step === undefined ? {} : { step: item.step }),
      }),
    );
    if (cut.length > 0) await turn.append(...cut);
    for (const item of cut) conversation.add(item);
    // A decision is about the call it was asked for, and no later one of the same name.
    const decisions = new Map(turn.assignment.decisions.map((one) => [one.callId, one]));
    return this.#perform(calls, [...answered, ...cut], decisions);
  }

  /** Makes one request and acts on it; undefined when another is to be made. */
  async #request(): Promise<TurnEnd | undefined> {
    const { turn, provider, model, system, conversation } = this.#parts;
    await turn.step();
    await conversation.prepare();
    const startedAt = performance.now();
    const asked = await askModel(turn, provider, {
      model,
      system,
      messages: conversation.messages,
      tools: this.#definitions,
      cacheKey: turn.assignment.sessionId,
      runToken: turn.assignment.token,
      signal: this.#requestSignal,
    });
    if (asked.kind === "cut") return this.#cut(asked.shown);
    if (asked.kind === "failed") {
      const isTooLong = asked.failure.code === "context_too_long";
      return isTooLong && conversation.shrink() ? undefined : this.#failed(asked.failure);
    }
    const { response, entryIds } = asked;
    this.#step += 1;
    const call = this.#modelCall(response, Math.round(performance.now() - startedAt));
    if (response.parts.length === 0) return this.#emptyAnswer(call);
    const items = this.#journalItems(response, entryIds);
    const calls = items.filter((item) => item.type === "pre_tool");
    this.#said = textOf(response);
    if (calls.length === 0) return this.#finish(response, [...items, call]);
    const verdicts = await turn.append(...items, call);
    for (const item of items) conversation.add(item);
    return this.#perform(
      calls.map((item) => withVerdict(item, verdicts)),
      [],
      new Map(),
    );
  }

  /** Keeps the text that was shown so far, marked as partial. */
  #cut(shown: readonly ShownText[]): TurnOver {
    const { turn } = this.#parts;
    const items = shown.map((text): JournalItem => ({ type: "message", ...text, partial: true }));
    const isStopped = turn.signal.aborted || turn.killed.aborted;
    const end: TurnOver = isStopped
      ? { outcome: "aborted" }
      : timeIsUp(turn.assignment.limits.wallMs);
    return { ...end, items };
  }

  /** End of a turn whose request failed. Without a time to try again, waiting would be in vain. */
  #failed(failure: ModelFailure): TurnEnd {
    const { code, message, retryAfterMs } = failure;
    // The refusal may arrive before the order to stop.
    if (code === TURN_OVER) return { outcome: "aborted" };
    const isPause =
      retryAfterMs !== undefined &&
      (retryAfterMs > PAUSE_BEYOND_MS || code === "model_quota_exhausted");
    if (!isPause) return { outcome: "failed", error: { code, message } };
    const waitMs = Math.max(Math.ceil(retryAfterMs), MIN_PAUSE_MS);
    return { outcome: "parked", park: { kind: "pause", waitMs, code, message } };
  }

  #emptyAnswer(call: JournalItem): TurnOver | undefined {
    this.#empty += 1;
    if (this.#empty < MAX_EMPTY) {
      void this.#parts.turn.append(call).catch(() => {});
      return undefined;
    }
    return {
      outcome: "failed",
      items: [call],
      error: {
        code: "model_empty_response",
        message:
          "The model gave an empty answer twice. Send the prompt again or choose another model.",
      },
    };
  }

  #finish(response: ModelResponse, items: JournalItem[]): TurnOver {
    const result = textOf(response);
    const { stopReason } = response;
    if (stopReason === "refusal" && result === "")
      return {
        outcome: "failed",
        items,
        error: {
          code: "model_refused",
          message: "The model refused to answer. Rephrase the request.",
        },
      };
    const notice: JournalItem[] =
      stopReason === "length"
        ? [
            {
              type: "notice",
              entryId: this.#parts.turn.entryId(),
              text: "The answer was cut off at the model's maximum length. Ask it to continue.",
              step: this.#step,
            },
          ]
        : [];
    return { outcome: "completed", result, items: [...items, ...notice] };
  }

  #modelCall({ usage, stopReason }: ModelResponse, durationMs: number): JournalItem {
    const { turn, modelId: model, price, bounds } = this.#parts;
    const facts = { entryId: turn.entryId(), step: this.#step, model, price, usage };
    const call = modelCallItem({ ...facts, durationMs, stopReason });
    bounds.spend(call.costMicros);
    return call;
  }

  #journalItems(response: ModelResponse, entryIds: readonly string[]): JournalItem[] {
    const { tools, turn } = this.#parts;
    const { sessionId, limits } = turn.assignment;
    return responseItems(response, entryIds, {
      step: this.#step,
      ids: this.#ids,
      callsPerResponse: limits.callsPerResponse,
      // All commands of one response begin where the last one of the response before it ended.
      placeOf: (tool) => (tool === "bash" ? tools.workingDirectory(sessionId) : null),
    });
  }

  async #perform(
    calls: readonly Call[],
    answered: readonly PostTool[],
    decisions: ReadonlyMap<string, Decision>,
  ): Promise<TurnEnd | undefined> {
    const { turn, tools, redact, workspace, conversation } = this.#parts;
    const done = await performCalls(
      {
        turn,
        tools,
        redact,
        decisions,
        workspace: (tool) => workspace.openFor(tool),
        repository: workspace.repository,
        notBegun: new Set(turn.assignment.notBegun),
        sandboxRefusal: () => workspace.sandboxRefusal(),
        isSandboxed: () => workspace.isSandboxed(),
        signal: this.#toolSignal.signal,
        done: (result) => conversation.add(result),
      },
      calls,
      answered,
    );
    const { refusal } = workspace;
    if (refusal)
      return { outcome: "failed", error: { code: refusal.code, message: refusal.message } };
    if ("refusal" in done) return waitForMachine(done.refusal, done.notBegun);
    if ("ended" in done) return { outcome: "completed", result: this.#said };
    if ("park" in done) return { outcome: "parked", park: { kind: "gate", callId: done.park } };
    return done.stopped ? { outcome: "aborted" } : undefined;
  }
}

/**
 * Parks the turn until its machine has a sandbox, or room on its disk. The server queues it again
 * as soon as a machine reports that; the pause is for a lost report.
 */
export function waitForMachine({ code, message }: Refusal, notBegun: readonly string[]): TurnEnd {
  const park = { kind: "pause", waitMs: MACHINE_PAUSE_MS, code, message } as const;
  return { outcome: "parked", park: { ...park, notBegun: [...notBegun] } };
}

function textOf({ parts }: ModelResponse): string {
  return parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
}

/** Tools of the agent: its runner's and the server's. */
function definitionsOf({ assignment, serverTools }: Turn): ToolDefinition[] {
  const own = workspaceTools
    .filter(({ name }) => assignment.tools.includes(name))
    .map(toolDefinition);
  return [...own, ...serverTools];
}

function withVerdict(item: JournalItem & { type: "pre_tool" }, verdicts: Verdicts): Call {
  return { item, verdict: verdicts[item.callId] ?? { verdict: "invalid", reason: TOO_MANY } };
}
