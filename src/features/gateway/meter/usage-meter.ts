/**
 * Counts the usage of one request from the bytes of the response as they pass. The meter changes none of
 * them, buffers a bounded part, and reads each once. Usage of a response that ends without a count is
 * estimated and marked as such.
 */
import { AnthropicReader } from "./anthropic.ts";
import {
  type AnswerReader,
  type Fields,
  fieldsOf,
  type ModelRoute,
  type TokenUsage,
} from "./format.ts";
import { OpenAiChatReader } from "./openai-chat.ts";
import { OpenAiResponsesReader } from "./openai-responses.ts";

export interface Metered {
  usage: TokenUsage;
  /** True if the provider did not count all of it. */
  isEstimated: boolean;
  stopReason: string;
}

export interface AnswerShape {
  route: ModelRoute;
  isEventStream: boolean;
  /** Size of the request, to estimate the input tokens. */
  requestBytes: number;
}

/** The last event of a long response contains all of it. A longer event is not read. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024;
/** Usual characters per token of a response, and bytes per token of a request. */
const CHARS_PER_TOKEN = 4;
const NEWLINE = 10;

export class UsageMeter {
  readonly #shape: AnswerShape;
  readonly #reader: AnswerReader;
  /** Pieces of an incomplete line or body. */
  #held: Buffer[] = [];
  #heldBytes = 0;
  #isSkipping = false;

  constructor(shape: AnswerShape) {
    this.#shape = shape;
    this.#reader = readerFor(shape.route);
  }

  take(chunk: Buffer): void {
    const findEnd = (from: number) =>
      this.#shape.isEventStream ? chunk.indexOf(NEWLINE, from) : -1;
    let from = 0;
    for (let at = findEnd(0); at >= 0; at = findEnd(from)) {
      this.#hold(chunk.subarray(from, at));
      this.#endLine();
      from = at + 1;
    }
    this.#hold(chunk.subarray(from));
  }

  /** `isCut`: the response ended early. */
  end(isCut: boolean): Metered {
    this.#endLine();
    const { usage, isWhole, writtenChars, stopReason } = this.#reader;
    if (usage && isWhole && !isCut) return { usage, isEstimated: false, stopReason };
    const counted = usage ?? NOTHING;
    // A final count that arrived before the cut is still valid.
    const isEstimated = !isWhole;
    return {
      usage: {
        ...counted,
        inputTokens: usage ? counted.inputTokens : estimate(this.#shape.requestBytes),
        outputTokens: isEstimated
          ? Math.max(counted.outputTokens, estimate(writtenChars))
          : counted.outputTokens,
      },
      isEstimated,
      stopReason: isCut ? "aborted" : stopReason,
    };
  }

  #hold(piece: Buffer): void {
    if (this.#isSkipping || piece.length === 0) return;
    this.#heldBytes += piece.length;
    if (this.#heldBytes > MAX_EVENT_BYTES) {
      this.#held = [];
      this.#isSkipping = true;
    } else this.#held.push(Buffer.from(piece));
  }

  #endLine(): void {
    const text = Buffer.concat(this.#held).toString("utf8");
    this.#held = [];
    this.#heldBytes = 0;
    this.#isSkipping = false;
    const data = this.#shape.isEventStream ? dataOf(text) : text;
    const event = data === null ? null : parse(data);
    if (event) this.#reader.take(event);
  }
}

/** Minimum usage of a request that was sent and got no response. */
export function unanswered(requestBytes: number): Metered {
  return {
    usage: { ...NOTHING, inputTokens: estimate(requestBytes) },
    isEstimated: true,
    stopReason: "aborted",
  };
}

const NOTHING: TokenUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
};

function estimate(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

function readerFor(route: ModelRoute): AnswerReader {
  if (route === "messages") return new AnthropicReader();
  return route === "responses" ? new OpenAiResponsesReader() : new OpenAiChatReader();
}

/** Returns the data of a server-sent event's line; null for every other line. */
function dataOf(line: string): string | null {
  return line.startsWith("data:") ? line.slice("data:".length) : null;
}

function parse(text: string): Fields | null {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return null;
  }
}
