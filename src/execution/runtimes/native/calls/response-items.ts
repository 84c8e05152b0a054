/** A model's response as the journal keeps it: its text, its calls, its cost. */

import { cleanText } from "#base/text/clean-text.ts";
import { exceededBound } from "#base/text/json-bounds.ts";
import type {
  ModelMessage,
  ModelPrice,
  ModelResponse,
  ModelUsage,
} from "#execution/models/model.ts";
import { costMicros } from "#execution/models/prices.ts";
import type { JournalItem, ModelCallItem } from "#protocol/events.ts";

const MAX_TOKENS = 1e9;
const MAX_MICROS = 1e10;
const INPUT_BOUNDS = { depth: 32, values: 50_000 };

/**
 * Unique ids of calls. Approvals and results refer to a call by its id, so none may name two calls
 * of a conversation: some providers count theirs from one in each response. Ids are cleaned as the
 * journal would, so that a call has the same id everywhere.
 */
export class CallIds {
  readonly #used = new Set<string>();

  constructor(journaled: readonly JournalItem[], messages: readonly ModelMessage[]) {
    for (const item of journaled) if (item.type === "pre_tool") this.#used.add(item.callId);
    for (const message of messages)
      if (message.role === "assistant")
        for (const part of message.content)
          if (part.type === "tool_call") this.#used.add(part.callId);
  }

  take(given: string, step: number): string {
    const clean = cleanText(given);
    let id = clean;
    for (let n = this.#used.size; id === "" || this.#used.has(id); n++)
      id = `${clean || "call"}_${step}_${n}`;
    this.#used.add(id);
    return id;
  }
}

export interface ResponseContext {
  step: number;
  ids: CallIds;
  /** Limit of calls in a response; others are not judged, and so never performed. */
  callsPerResponse: number;
  /** Working directory of a command, as seen in the sandbox; null at the top of the workspace. */
  placeOf(tool: string): string | null;
}

/** Items of a response; `entryIds` are those of its parts, as their pieces were shown. */
export function responseItems(
  { parts }: ModelResponse,
  entryIds: readonly string[],
  { step, ids, callsPerResponse, placeOf }: ResponseContext,
): JournalItem[] {
  let calls = 0;
  return parts.flatMap((part, index): JournalItem[] => {
    const base = { entryId: entryIds[index] as string, step, ...metaOf(part) };
    if (part.type !== "tool_call")
      return part.text === "" && part.meta === undefined
        ? []
        : [{ type: "message", ...base, kind: part.type, text: part.text }];
    calls += 1;
    const cwd = placeOf(part.tool);
    return [
      {
        type: "pre_tool",
        ...base,
        callId: ids.take(part.callId, step),
        tool: part.tool,
        input: parseInput(part.inputText),
        ...(cwd === null ? {} : { cwd }),
        ...(calls <= callsPerResponse ? { authorise: true } : {}),
      },
    ];
  });
}

export interface CallFacts {
  entryId: string;
  /** Step of the turn; absent for requests beside it. */
  step?: number;
  model: string;
  price: ModelPrice | null;
  usage: ModelUsage | null;
  durationMs: number;
  stopReason: string;
}

export function modelCallItem({ price, usage, ...facts }: CallFacts): ModelCallItem {
  return {
    type: "model_call",
    ...facts,
    inputTokens: countOf(usage?.inputTokens),
    cachedInputTokens: countOf(usage?.cachedInputTokens),
    outputTokens: countOf(usage?.outputTokens),
    reasoningTokens: countOf(usage?.reasoningTokens),
    costMicros: boundedCost(costMicros(price, usage)),
    priceId: price?.id ?? null,
  };
}

/** A provider may report anything; the server accepts whole numbers within bounds. */
function countOf(tokens: number | undefined): number {
  return tokens !== undefined && tokens > 0 ? Math.min(Math.round(tokens), MAX_TOKENS) : 0;
}

function boundedCost(micros: number | null): number | null {
  return micros === null ? null : Math.min(Math.max(0, Math.round(micros) || 0), MAX_MICROS);
}

/**
 * Input that is not JSON, or exceeds what a frame may hold, stays as the model wrote it: the server
 * judges it invalid, and the model is told.
 */
function parseInput(text: string): unknown {
  if (text.trim() === "") return {};
  if (exceededBound(Buffer.from(text), INPUT_BOUNDS)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function metaOf({ meta }: { meta?: Record<string, unknown> }) {
  return meta === undefined ? {} : { meta };
}
