import {
  type AnswerReader,
  charsOf,
  countOf,
  type Fields,
  fieldsOf,
  listOf,
  type TokenUsage,
} from "./format.ts";

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "end",
  length: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "refusal",
};

/** OpenAI chat completions: the count comes in the last chunk, or with the single body. */
export class OpenAiChatReader implements AnswerReader {
  usage: TokenUsage | null = null;
  writtenChars = 0;
  stopReason = "other";

  get isWhole(): boolean {
    return this.usage !== null;
  }

  take(event: Fields): void {
    for (const choice of listOf(event.choices)) this.#takeChoice(fieldsOf(choice));
    const usage = fieldsOf(event.usage);
    if (usage.prompt_tokens === undefined && usage.completion_tokens === undefined) return;
    const input = fieldsOf(usage.prompt_tokens_details);
    const output = fieldsOf(usage.completion_tokens_details);
    this.usage = {
      inputTokens: countOf(usage.prompt_tokens),
      cachedInputTokens: countOf(input.cached_tokens),
      cacheWriteTokens: countOf(input.cache_write_tokens),
      outputTokens: countOf(usage.completion_tokens),
      reasoningTokens: countOf(output.reasoning_tokens),
    };
  }

  #takeChoice({ delta, message, finish_reason: reason }: Fields): void {
    const written = fieldsOf(delta ?? message);
    this.writtenChars +=
      charsOf(written.content) + charsOf(written.reasoning) + charsOf(written.reasoning_content);
    for (const call of listOf(written.tool_calls))
      this.writtenChars += charsOf(fieldsOf(fieldsOf(call).function).arguments);
    if (typeof reason === "string") this.stopReason = STOP_REASONS[reason] ?? "other";
  }
}
