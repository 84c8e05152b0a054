import {
  type AnswerReader,
  charsOf,
  countOf,
  type Fields,
  fieldsOf,
  listOf,
  type TokenUsage,
} from "./format.ts";

const ENDS: Readonly<Record<string, string>> = {
  completed: "end",
  incomplete: "length",
  failed: "error",
  cancelled: "aborted",
};

const LAST_EVENT = /^response\.(?:completed|incomplete|failed|cancelled)$/;

/** OpenAI Responses: the count comes with the last event, or with the single body. */
export class OpenAiResponsesReader implements AnswerReader {
  usage: TokenUsage | null = null;
  writtenChars = 0;
  stopReason = "other";

  get isWhole(): boolean {
    return this.usage !== null;
  }

  take(event: Fields): void {
    const type = typeof event.type === "string" ? event.type : "";
    if (event.object === "response") this.#end(event);
    else if (LAST_EVENT.test(type)) this.#end(fieldsOf(event.response));
    else if (type.endsWith(".delta")) this.writtenChars += charsOf(event.delta);
  }

  #end({ usage: given, status, output }: Fields): void {
    const usage = fieldsOf(given);
    this.stopReason = ENDS[String(status)] ?? "other";
    const calls = listOf(output).some((part) => fieldsOf(part).type === "function_call");
    if (this.stopReason === "end" && calls) this.stopReason = "tool_calls";
    if (usage.input_tokens === undefined && usage.output_tokens === undefined) return;
    const input = fieldsOf(usage.input_tokens_details);
    this.usage = {
      inputTokens: countOf(usage.input_tokens),
      cachedInputTokens: countOf(input.cached_tokens),
      cacheWriteTokens: countOf(input.cache_write_tokens),
      outputTokens: countOf(usage.output_tokens),
      reasoningTokens: countOf(fieldsOf(usage.output_tokens_details).reasoning_tokens),
    };
  }
}
