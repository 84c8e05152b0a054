/**
 * Builds a response from the pieces of the SDK's stream, and returns the event of each piece. Tool
 * calls are kept apart by id; an id that comes twice in one response names two calls, so the later
 * one gets an id of its own.
 */

import { randomUUID } from "node:crypto";
import type {
  LanguageModelV4FinishReason,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import {
  MAX_RESPONSE_CHARS,
  type ModelEvent,
  type ModelResponse,
  type ModelUsage,
  type ProviderMeta,
  type StopReason,
} from "../model.ts";
import { WireFault } from "./failures.ts";
import { type Author, metaBy } from "./history.ts";

interface Block {
  type: "text" | "reasoning";
  text: string;
  meta: ProviderMeta;
  /** Null until the block has something to show. */
  part: number | null;
}

interface Call {
  type: "tool_call";
  callId: string;
  tool: string;
  inputText: string;
  meta: ProviderMeta;
  part: number;
  isComplete: boolean;
}

type Part<Type extends LanguageModelV4StreamPart["type"]> = Extract<
  LanguageModelV4StreamPart,
  { type: Type }
>;

export class ResponseBuilder {
  readonly #author: Author;
  readonly #parts: (Block | Call)[] = [];
  readonly #blocks = new Map<string, Block>();
  /** Calls by the provider's id; several when it repeats one. */
  readonly #calls = new Map<string, Call[]>();
  #chars = 0;

  constructor(author: Author) {
    this.#author = author;
  }

  take(part: LanguageModelV4StreamPart): ModelEvent | null {
    switch (part.type) {
      case "text-start":
      case "text-delta":
      case "text-end":
        return this.#takeBlock("text", part);
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#takeBlock("reasoning", part);
      case "tool-input-start":
        return part.providerExecuted
          ? null
          : this.#startCall(part.id, part.toolName, part.providerMetadata);
      case "tool-input-delta":
        return this.#growCall(part);
      case "tool-call":
        return part.providerExecuted ? null : this.#completeCall(part);
      default:
        return null;
    }
  }

  finish({ finishReason, usage }: Part<"finish">): ModelResponse {
    const parts = this.#parts.map((part) => this.#toResponsePart(part));
    const hasCalls = parts.some(({ type }) => type === "tool_call");
    return { parts, stopReason: stopReasonOf(finishReason, hasCalls), usage: usageOf(usage) };
  }

  #takeBlock(
    type: Block["type"],
    part: Part<
      | "text-start"
      | "text-delta"
      | "text-end"
      | "reasoning-start"
      | "reasoning-delta"
      | "reasoning-end"
    >,
  ): ModelEvent | null {
    const key = `${type} ${part.id}`;
    let block = this.#blocks.get(key);
    if (!block) {
      block = { type, text: "", meta: {}, part: null };
      this.#blocks.set(key, block);
    }
    mergeMeta(block.meta, part.providerMetadata);
    if (!("delta" in part)) {
      if (part.type.endsWith("-end")) this.#endBlock(key, block);
      return null;
    }
    if (part.delta === "") return null;
    this.#count(part.delta);
    block.text += part.delta;
    block.part ??= this.#parts.push(block) - 1;
    return { type, part: block.part, text: part.delta };
  }

  /** Hidden reasoning has no text, but must be returned to the provider. */
  #endBlock(key: string, block: Block): void {
    this.#blocks.delete(key);
    if (block.part !== null || block.type === "text" || Object.keys(block.meta).length === 0)
      return;
    block.part = this.#parts.push(block) - 1;
  }

  #startCall(id: string, tool: string, meta: ProviderMeta | undefined): ModelEvent {
    const call = this.#addCall(id, tool);
    mergeMeta(call.meta, meta);
    return { type: "tool_input", part: call.part, tool, text: "" };
  }

  #addCall(id: string, tool: string): Call {
    this.#count(tool);
    const same = this.#calls.get(id) ?? [];
    this.#calls.set(id, same);
    const isFree = id !== "" && same.length === 0;
    const callId = isFree ? id : `call_${randomUUID().replaceAll("-", "")}`;
    const part = this.#parts.length;
    const call: Call = {
      type: "tool_call",
      callId,
      tool,
      inputText: "",
      meta: {},
      part,
      isComplete: false,
    };
    same.push(call);
    this.#parts.push(call);
    return call;
  }

  #growCall({ id, delta, providerMetadata }: Part<"tool-input-delta">): ModelEvent | null {
    const call = this.#calls.get(id)?.findLast(({ isComplete }) => !isComplete);
    if (!call || delta === "") return null;
    mergeMeta(call.meta, providerMetadata);
    this.#count(delta);
    call.inputText += delta;
    return { type: "tool_input", part: call.part, tool: call.tool, text: delta };
  }

  /** The whole call comes last and is what counts; earlier pieces were for watching. */
  #completeCall(part: Part<"tool-call">): ModelEvent | null {
    const begun = this.#calls.get(part.toolCallId)?.find(({ isComplete }) => !isComplete);
    const call = begun ?? this.#addCall(part.toolCallId, part.toolName);
    const isSeen = call.inputText !== "";
    if (!isSeen) this.#count(part.input);
    call.tool = part.toolName;
    call.inputText = part.input;
    call.isComplete = true;
    mergeMeta(call.meta, part.providerMetadata);
    return isSeen
      ? null
      : { type: "tool_input", part: call.part, tool: call.tool, text: part.input };
  }

  #count(piece: string): void {
    this.#chars += piece.length;
    if (this.#chars > MAX_RESPONSE_CHARS) {
      throw new WireFault("model_response_too_large", "too many characters");
    }
  }

  #toResponsePart(part: Block | Call): ModelResponse["parts"][number] {
    const meta = metaBy(this.#author, part.meta);
    if (part.type !== "tool_call") return { type: part.type, text: part.text, meta };
    const { callId, tool, inputText } = part;
    return { type: "tool_call", callId, tool, inputText, meta };
  }
}

/** Fields of one provider may come in several pieces, such as a signature after the text. */
function mergeMeta(into: ProviderMeta, more: ProviderMeta | undefined): void {
  for (const [provider, fields] of Object.entries(more ?? {})) {
    into[provider] = { ...(into[provider] as object | undefined), ...(fields as object) };
  }
}

function stopReasonOf({ unified }: LanguageModelV4FinishReason, hasCalls: boolean): StopReason {
  if (unified === "length") return "length";
  if (unified === "content-filter") return "refusal";
  if (hasCalls) return "tool_calls";
  return unified === "stop" || unified === "tool-calls" ? "end" : "other";
}

function usageOf({ inputTokens, outputTokens }: LanguageModelV4Usage): ModelUsage | null {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return null;
  const cacheWriteTokens = countOf(inputTokens.cacheWrite);
  return {
    inputTokens: countOf(inputTokens.total),
    cachedInputTokens: countOf(inputTokens.cacheRead),
    ...(cacheWriteTokens > 0 ? { cacheWriteTokens } : {}),
    outputTokens: countOf(outputTokens.total),
    reasoningTokens: countOf(outputTokens.reasoning),
  };
}

const MAX_COUNT = 1e12;

/** A provider may report anything; usage is counted and paid for in whole numbers. */
function countOf(said: number | undefined): number {
  const count = Number(said ?? 0);
  return Number.isNaN(count) ? 0 : Math.max(0, Math.min(Math.round(count), MAX_COUNT));
}
