/**
 * Events of one streamed answer of Anthropic's Messages, in the SDK's form. Only used fields are
 * read: unknown events and blocks are skipped, as the documentation asks for.
 */
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { WireFault } from "../failures.ts";

type Fields = Record<string, unknown>;
type Part = LanguageModelV4StreamPart;

interface Block {
  type: "text" | "reasoning" | "call";
  /** Provider's id, tool and input so far, for a call. */
  callId: string;
  tool: string;
  input: string;
}

const STOP_REASONS: Readonly<Record<string, "stop" | "tool-calls" | "length" | "content-filter">> =
  {
    end_turn: "stop",
    pause_turn: "stop",
    stop_sequence: "stop",
    tool_use: "tool-calls",
    max_tokens: "length",
    model_context_window_exceeded: "length",
    refusal: "content-filter",
  };

/** An error inside an answer has a name in place of a status. */
const STATUS_OF: Readonly<Record<string, number>> = {
  api_error: 500,
  overloaded_error: 529,
  rate_limit_error: 429,
  request_too_large: 413,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  billing_error: 400,
  invalid_request_error: 400,
};

export class AnthropicEvents {
  readonly #blocks = new Map<unknown, Block>();
  #usage: Fields = {};
  #stopReason: string | undefined;

  /** Reads the `data` of one event. Throws for data that is no event, and for an error. */
  take(data: string): Part[] {
    const event = parse(data);
    const id = String(event.index);
    switch (event.type) {
      case "content_block_start":
        return this.#start(id, fieldsOf(event.content_block));
      case "content_block_delta":
        return this.#grow(id, fieldsOf(event.delta));
      case "content_block_stop":
        return this.#stop(id);
      case "message_start":
        this.#note(fieldsOf(event.message));
        return [];
      case "message_delta":
        this.#note({ ...fieldsOf(event.delta), usage: event.usage });
        return [];
      case "message_stop":
        return [this.#finish()];
      case "error":
        throw errorOf(fieldsOf(event.error));
      default:
        return [];
    }
  }

  #start(id: string, block: Fields): Part[] {
    switch (block.type) {
      case "text":
        this.#blocks.set(id, { type: "text", callId: "", tool: "", input: "" });
        return [{ type: "text-start", id }];
      case "thinking":
      case "redacted_thinking":
        this.#blocks.set(id, { type: "reasoning", callId: "", tool: "", input: "" });
        return [
          {
            type: "reasoning-start",
            id,
            ...(block.data ? meta({ redactedData: block.data }) : {}),
          },
        ];
      case "tool_use": {
        const input = Object.keys(fieldsOf(block.input)).length > 0 ? block.input : undefined;
        const call: Block = {
          type: "call",
          callId: textOf(block.id),
          tool: textOf(block.name),
          input: input === undefined ? "" : JSON.stringify(input),
        };
        this.#blocks.set(id, call);
        return [{ type: "tool-input-start", id: call.callId, toolName: call.tool }];
      }
      default:
        return [];
    }
  }

  #grow(id: string, delta: Fields): Part[] {
    const block = this.#blocks.get(id);
    switch (delta.type) {
      case "text_delta":
        return [{ type: "text-delta", id, delta: textOf(delta.text) }];
      case "thinking_delta":
        return [{ type: "reasoning-delta", id, delta: textOf(delta.thinking) }];
      case "signature_delta":
        return [
          { type: "reasoning-delta", id, delta: "", ...meta({ signature: delta.signature }) },
        ];
      case "input_json_delta": {
        if (block?.type !== "call") return [];
        const piece = textOf(delta.partial_json);
        block.input += piece;
        return [{ type: "tool-input-delta", id: block.callId, delta: piece }];
      }
      default:
        return [];
    }
  }

  #stop(id: string): Part[] {
    const block = this.#blocks.get(id);
    this.#blocks.delete(id);
    if (block?.type === "text") return [{ type: "text-end", id }];
    if (block?.type === "reasoning") return [{ type: "reasoning-end", id }];
    if (!block) return [];
    const { callId: toolCallId, tool: toolName, input } = block;
    return [{ type: "tool-call", toolCallId, toolName, input: input || "{}" }];
  }

  /** Counts come at the beginning and, where they have changed, again at the end. */
  #note({ usage, stop_reason }: Fields): void {
    for (const [name, value] of Object.entries(fieldsOf(usage)))
      if (value !== null) this.#usage[name] = value;
    if (typeof stop_reason === "string") this.#stopReason = stop_reason;
  }

  #finish(): Part {
    const raw = this.#stopReason;
    const count = (name: string) => numberOf(this.#usage[name]) ?? 0;
    const cacheRead = count("cache_read_input_tokens");
    const cacheWrite = count("cache_creation_input_tokens");
    const noCache = count("input_tokens");
    const details = fieldsOf(this.#usage.output_tokens_details);
    return {
      type: "finish",
      finishReason: { unified: STOP_REASONS[raw ?? ""] ?? "other", raw },
      usage: {
        inputTokens: { total: noCache + cacheRead + cacheWrite, noCache, cacheRead, cacheWrite },
        outputTokens: {
          total: count("output_tokens"),
          text: undefined,
          reasoning: numberOf(details.thinking_tokens),
        },
      },
    };
  }
}

function parse(data: string): Fields {
  try {
    return fieldsOf(JSON.parse(data));
  } catch {
    throw new WireFault("model_stream_broken", "an event is not JSON");
  }
}

/** Error with the same fields as errors of the SDK. */
function errorOf(error: Fields) {
  const statusCode = STATUS_OF[String(error.type)];
  return { message: error.message, type: error.type, statusCode, data: { error } };
}

function meta(fields: Fields) {
  return { providerMetadata: { anthropic: fields as Record<string, string> } };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  throw new WireFault("model_stream_broken", "an event has no text where it must");
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
