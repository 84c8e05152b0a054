/** A model for tests that answers from a script, in small pieces. */
import type {
  ModelEvent,
  ModelFailure,
  ModelProvider,
  ModelRequest,
  ModelResponse,
} from "#execution/models/model.ts";
import type { Models } from "#execution/models/registry.ts";

export type ScriptedPart =
  | { text: string }
  | { reasoning: string }
  | { call: string; input: unknown; id?: string }
  /** A call whose input is not JSON. */
  | { call: string; inputText: string; id?: string };

export type ScriptedReply = ScriptedPart[] | { failure: ModelFailure } | "hang";

export interface ScriptModel {
  models: Models;
  requests: ModelRequest[];
}

/** Makes a model; `answer` is called for each request, numbered from 1. */
export function scriptModel(
  answer: (n: number, request: ModelRequest) => ScriptedReply,
): ScriptModel {
  const requests: ModelRequest[] = [];
  const provider: ModelProvider = {
    name: "test",
    async *stream(request) {
      requests.push({ ...request, messages: structuredClone([...request.messages]) as never });
      yield* reply(answer(requests.length, request), request.signal, requests.length);
    },
  };
  return {
    requests,
    models: {
      provider: (id) =>
        id === "test/none"
          ? { code: "model_not_available", message: "There is no such model." }
          : { provider, model: "script" },
      capabilities: async () => [],
      defaultModel: async () => ({ id: "test/script" }),
      configure() {},
      forget() {},
    },
  };
}

async function* reply(
  answer: ScriptedReply,
  signal: AbortSignal,
  n: number,
): AsyncGenerator<ModelEvent> {
  if (answer === "hang") return untilAborted(signal);
  if ("failure" in answer) return yield { type: "failed", failure: answer.failure };
  for (const event of answer.flatMap(eventsOf)) {
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) return;
    yield event;
  }
  yield { type: "end", response: responseOf(answer, n) };
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

function eventsOf(said: ScriptedPart, part: number): ModelEvent[] {
  return pieces(said).map((text) =>
    "call" in said
      ? { type: "tool_input", part, tool: said.call, text }
      : { type: "text" in said ? "text" : "reasoning", part, text },
  );
}

function pieces(said: ScriptedPart): string[] {
  const text = "text" in said ? said.text : "reasoning" in said ? said.reasoning : inputOf(said);
  return text.match(/[\s\S]{1,7}/g) ?? [];
}

function inputOf(said: Extract<ScriptedPart, { call: string }>): string {
  return "inputText" in said ? said.inputText : JSON.stringify(said.input);
}

function responseOf(answer: ScriptedPart[], n: number): ModelResponse {
  const calls = answer.some((said) => "call" in said);
  return {
    parts: answer.map((said, index) => {
      if ("text" in said) return { type: "text", text: said.text };
      if ("reasoning" in said)
        return { type: "reasoning", text: said.reasoning, meta: { signature: `s${n}` } };
      const callId = said.id ?? `call_${n}_${index}`;
      return { type: "tool_call", callId, tool: said.call, inputText: inputOf(said) };
    }),
    stopReason: calls ? "tool_calls" : "end",
    usage: { inputTokens: 10, cachedInputTokens: 4, outputTokens: 5, reasoningTokens: 0 },
  };
}
