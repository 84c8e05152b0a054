/**
 * The behaviours of the bench's model, and its answers in the format of Anthropic's Messages
 * stream.
 */

export const MODELS = {
  /** Answers at once. */
  prompt: "at-once",
  /** Answers after a second. */
  slow: "after-1s",
  /** Answers when it is told to. */
  held: "held",
  /** Answers at once; a wake lasts from the end of its answer to the next request of `parent`. */
  child: "child",
  parent: "parent",
  /** Calls `true` in bash several times, then answers. */
  tool: "bash-true",
} as const;

/** Tool calls in one turn. */
export const TOOL_STEPS = 10;

const WORDS = ["An", " answer", " of", " a", " few", " words", ",", " no", " more", "."];

/**
 * The body that a bare client sends; ours also sends its system prompt, its tools and the history.
 */
export function requestBody(model: string, content: string): string {
  const messages = [{ role: "user", content }];
  return JSON.stringify({ model, max_tokens: 32_000, stream: true, messages });
}

export function textEvents(): string {
  const events = [
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...WORDS.map((text) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text },
    })),
    { type: "content_block_stop", index: 0 },
  ];
  return stream(events, "end_turn");
}

export function callEvents(number: number): string {
  const id = `toolu_${number}`;
  const block = { type: "tool_use", id, name: "bash", input: {} };
  const partial_json = JSON.stringify({ command: "true" });
  const events = [
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json } },
    { type: "content_block_stop", index: 0 },
  ];
  return stream(events, "tool_use");
}

interface Event {
  type: string;
}

function stream(events: readonly Event[], stop_reason: string): string {
  const usage = { input_tokens: 1_000, output_tokens: 1 };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "bench",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  const end = {
    type: "message_delta",
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: WORDS.length },
  };
  const all: Event[] = [
    { type: "message_start", message } as Event,
    ...events,
    end,
    { type: "message_stop" },
  ];
  return all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}
