/**
 * One turn of the native agent. The outer loop makes requests; each response is consumed whole,
 * journaled with its calls (which judges them), and its calls are performed; then the next request,
 * until the model asks for nothing more. All state is in the journal: a turn begins where the one
 * before it was lost, and repeats nothing.
 */
import type { Clock } from "#base/clock.ts";
import type { ModelPrice, ModelProvider, ModelResponse } from "#execution/models/model.ts";
import { costMicros } from "#execution/models/prices.ts";
import type { Redactor } from "#execution/tools/redact.ts";
import type { RunnerTools } from "#execution/tools/tool.ts";
import { INTERRUPTED, type JournalItem } from "#protocol/events.ts";
import { workspaceTools } from "#protocol/tools.ts";
import type { Turn, TurnEnd, TurnOver, Verdicts } from "../runtime.ts";
import { askModel, type ShownText } from "./ask-model.ts";
import { type Call, type Resumption, resumeFrom, TOO_MANY } from "./calls.ts";
import type { Conversation, PostTool } from "./conversation.ts";
import { type TurnBounds, timeIsUp } from "./limits.ts";
import { performCalls } from "./perform-calls.ts";
import type { TurnWorkspace } from "./turn-workspace.ts";

export interface LoopParts {
  turn: Turn;
  provider: ModelProvider;
  /** The whole id, and the part of it that the provider knows. */
  modelId: string;
  model: string;
  price: ModelPrice | null;
  system: string;
  conversation: Conversation;
  tools: RunnerTools;
  redact: Redactor;
  workspace: TurnWorkspace;
  bounds: TurnBounds;
  clock: Clock;
}

const MAX_EMPTY = 2;

export class TurnLoop {
  readonly #parts: LoopParts;
  readonly #resumption: Resumption;
  readonly #usedIds = new Set<string>();
  readonly #toolSignal = new AbortController();
  readonly #timeUp = new AbortController();
  readonly #requestSignal: AbortSignal;
  #step: number;
  #empty = 0;

  constructor(parts: LoopParts) {
    const { turn } = parts;
    this.#parts = parts;
    this.#resumption = resumeFrom(turn.journaled);
    this.#step = this.#resumption.lastStep;
    for (const item of turn.journaled) if (item.type === "pre_tool") this.#usedIds.add(item.callId);
    for (const message of parts.conversation.messages)
      if (message.role === "assistant")
        for (const part of message.content)
          if (part.type === "tool_call") this.#usedIds.add(part.callId);
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
    const timer = setTimeout(
      () => this.#timeUp.abort(),
      Math.min(bounds.remainingMs, MAX_TIMER_MS),
    );
    try {
      return await this.#run();
    } finally {
      clearTimeout(timer);
    }
  }

  async #run(): Promise<TurnEnd> {
    const { turn, bounds } = this.#parts;
    const { finalText, calls } = this.#resumption;
    if (finalText !== null) return { outcome: "completed", result: finalText };
    if (calls.length > 0) {
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
    const { turn, conversation } = this.#parts;
    const { calls, answered, interrupted } = this.#resumption;
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
    for (const item of cut) await conversation.add(item);
    const done = new Set([...answered, ...cut.map(({ callId }) => callId)]);
    return this.#perform(calls, done);
  }

  /** One request and what follows from it; undefined when another is to be made. */
  async #request(): Promise<TurnEnd | undefined> {
    const { turn, provider, model, system, conversation } = this.#parts;
    await turn.step();
    conversation.close();
    const startedAt = performance.now();
    const asked = await askModel(turn, provider, {
      model,
      system,
      messages: conversation.messages,
      tools: workspaceTools,
      cacheKey: turn.assignment.sessionId,
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
    if (calls.length === 0) return this.#finish(response, [...items, call]);
    const verdicts = await turn.append(...items, call);
    for (const item of items) await conversation.add(item);
    return this.#perform(
      calls.map((item) => withVerdict(item, verdicts)),
      new Set(),
    );
  }

  /** What was shown so far is kept, and marked. */
  #cut(shown: readonly ShownText[]): TurnOver {
    const { turn } = this.#parts;
    const items = shown.map((text): JournalItem => ({ type: "message", ...text, partial: true }));
    const isStopped = turn.signal.aborted || turn.killed.aborted;
    const end: TurnOver = isStopped
      ? { outcome: "aborted" }
      : timeIsUp(turn.assignment.limits.wallMs);
    return { ...end, items };
  }

  #failed(failure: { code: string; message: string; retryAfterMs?: number }): TurnEnd {
    const { code, message, retryAfterMs } = failure;
    if (retryAfterMs !== undefined && retryAfterMs > 0) {
      return {
        outcome: "parked",
        park: { kind: "pause", waitMs: Math.ceil(retryAfterMs), code, message },
      };
    }
    return { outcome: "failed", error: { code, message } };
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
          "The model answered with nothing, twice. Send the prompt again or choose another model.",
      },
    };
  }

  #finish({ parts, stopReason }: ModelResponse, items: JournalItem[]): TurnOver {
    const result = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    if (stopReason === "refusal" && result === "")
      return {
        outcome: "failed",
        items,
        error: {
          code: "model_refused",
          message: "The model refused to answer. Put it another way.",
        },
      };
    const notice: JournalItem[] =
      stopReason === "length"
        ? [
            {
              type: "notice",
              entryId: this.#parts.turn.entryId(),
              text: "The answer was cut off at the model's maximum length. Ask it to go on.",
              step: this.#step,
            },
          ]
        : [];
    return { outcome: "completed", result, items: [...items, ...notice] };
  }

  #modelCall({ usage, stopReason }: ModelResponse, durationMs: number): JournalItem {
    const { turn, modelId, price, bounds } = this.#parts;
    const cost = costMicros(price, usage);
    bounds.spend(cost);
    return {
      type: "model_call",
      entryId: turn.entryId(),
      step: this.#step,
      model: modelId,
      inputTokens: usage?.inputTokens ?? 0,
      cachedInputTokens: usage?.cachedInputTokens ?? 0,
      outputTokens: usage?.outputTokens ?? 0,
      reasoningTokens: usage?.reasoningTokens ?? 0,
      costMicros: cost,
      priceId: price?.id ?? null,
      durationMs,
      stopReason,
    };
  }

  #journalItems({ parts }: ModelResponse, entryIds: readonly string[]): JournalItem[] {
    const { callsPerResponse } = this.#parts.turn.assignment.limits;
    let calls = 0;
    return parts.flatMap((part, index): JournalItem[] => {
      const base = { entryId: entryIds[index] as string, step: this.#step, ...metaOf(part) };
      if (part.type !== "tool_call")
        return part.text === "" && part.meta === undefined
          ? []
          : [{ type: "message", ...base, kind: part.type, text: part.text }];
      calls += 1;
      return [
        {
          type: "pre_tool",
          ...base,
          callId: this.#uniqueId(part.callId),
          tool: part.tool,
          input: parseInput(part.inputText),
          ...this.#placeOf(part.tool),
          ...(calls <= callsPerResponse ? { authorise: true } : {}),
        },
      ];
    });
  }

  /** All commands of one response begin where the last one of the response before it ended. */
  #placeOf(tool: string): { cwd?: string } {
    const { tools, turn } = this.#parts;
    const cwd = tool === "bash" ? tools.workingDirectory(turn.assignment.sessionId) : null;
    return cwd === null ? {} : { cwd };
  }

  /** Some providers count their calls from one in each response. */
  #uniqueId(id: string): string {
    const unique =
      this.#usedIds.has(id) || id === "" ? `${id}_${this.#step}_${this.#usedIds.size}` : id;
    this.#usedIds.add(unique);
    return unique;
  }

  async #perform(
    calls: readonly Call[],
    answered: ReadonlySet<string>,
  ): Promise<TurnEnd | undefined> {
    const { turn, tools, redact, workspace, conversation } = this.#parts;
    const decisions = new Map(turn.assignment.decisions.map((one) => [one.callId, one]));
    const done = await performCalls(
      {
        turn,
        tools,
        redact,
        decisions,
        workspace: () => workspace.open(),
        signal: this.#toolSignal.signal,
        done: (result) => conversation.add(result),
      },
      calls,
      answered,
    );
    const { refusal } = workspace;
    if (refusal)
      return { outcome: "failed", error: { code: refusal.code, message: refusal.message } };
    if ("park" in done) return { outcome: "parked", park: { kind: "gate", callId: done.park } };
    return done.stopped ? { outcome: "aborted" } : undefined;
  }
}

/** Node's timers cannot wait longer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

function withVerdict(item: JournalItem & { type: "pre_tool" }, verdicts: Verdicts): Call {
  return { item, verdict: verdicts[item.callId] ?? { verdict: "invalid", reason: TOO_MANY } };
}

/** What is not JSON stays as the model wrote it: the server judges it invalid, and the model is told. */
function parseInput(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function metaOf({ meta }: { meta?: Record<string, unknown> }) {
  return meta === undefined ? {} : { meta };
}
