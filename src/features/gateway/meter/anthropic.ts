import { type AnswerReader, charsOf, countOf, type Fields, fieldsOf, listOf } from "./format.ts";

const STOP_REASONS: Readonly<Record<string, string>> = {
  end_turn: "end",
  stop_sequence: "end",
  pause_turn: "end",
  tool_use: "tool_calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "refusal",
};

/** Anthropic Messages: counts come with `message_start`, and again with each `message_delta`. */
export class AnthropicReader implements AnswerReader {
  isWhole = false;
  writtenChars = 0;
  stopReason = "other";
  #counts: Record<string, unknown> | null = null;

  take(event: Fields): void {
    switch (event.type) {
      case "message_start":
        this.#note(fieldsOf(event.message));
        break;
      case "message_delta":
        this.#note({ ...fieldsOf(event.delta), usage: event.usage });
        break;
      case "message_stop":
        this.isWhole = this.#counts !== null;
        break;
      case "content_block_delta": {
        const delta = fieldsOf(event.delta);
        this.writtenChars +=
          charsOf(delta.text) + charsOf(delta.thinking) + charsOf(delta.partial_json);
        break;
      }
      case "message":
        this.#takeWhole(event);
        break;
      default:
    }
  }

  get usage() {
    const counts = this.#counts;
    if (counts === null) return null;
    const cachedInputTokens = countOf(counts.cache_read_input_tokens);
    const cacheWriteTokens = countOf(counts.cache_creation_input_tokens);
    const cacheHourTokens = countOf(fieldsOf(counts.cache_creation).ephemeral_1h_input_tokens);
    return {
      inputTokens: countOf(counts.input_tokens) + cachedInputTokens + cacheWriteTokens,
      cachedInputTokens,
      cacheWriteTokens,
      ...(cacheHourTokens > 0 ? { cacheHourTokens } : {}),
      outputTokens: countOf(counts.output_tokens),
      reasoningTokens: countOf(fieldsOf(counts.output_tokens_details).thinking_tokens),
    };
  }

  #takeWhole(message: Fields): void {
    this.#note(message);
    for (const part of listOf(message.content)) {
      const { text, thinking, input } = fieldsOf(part);
      const written = charsOf(text) + charsOf(thinking);
      this.writtenChars += written + (input === undefined ? 0 : JSON.stringify(input).length);
    }
    this.isWhole = this.#counts !== null;
  }

  /** Later counts replace earlier ones; a null count changes nothing. */
  #note({ usage, stop_reason: reason }: Fields): void {
    for (const [name, value] of Object.entries(fieldsOf(usage)))
      if (value !== null) this.#counts = { ...this.#counts, [name]: value };
    if (typeof reason === "string") this.stopReason = STOP_REASONS[reason] ?? "other";
  }
}
