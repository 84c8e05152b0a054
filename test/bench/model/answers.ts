/** What the bench's model can be told to do, and its answers as Anthropic's Messages streams them. */

export const MODELS = {
  /** Answers at once. */
  prompt: "at-once",
  /** Answers after a second. */
  slow: "after-1s",
  /** Answers when it is told to. */
  held: "held",
  /** Answers at once; the end of its answer and the next request of `parent` are one wake. */
  child: "child",
  parent: "parent",
  /** Asks for `true` in bash again and again, then answers. */
  tool: "bash-true",
} as const;

/** How often the tool is asked for in one turn. */
export const TOOL_STEPS = 10;

const WORDS = ["An", " answer", " of", " a", " few", " words", ",", " no", " more", "."];

/** What a bare client sends; ours sends its system prompt, its tools and the history as well. */
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
