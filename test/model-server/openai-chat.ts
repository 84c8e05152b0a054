/** The wire format of OpenAI's chat completions and of compatible servers. */
import type { Reply } from "./script.ts";
import {
  argumentPieces,
  asList,
  callIds,
  eachPiece,
  type Json,
  shortId,
  textOf,
  textsBy,
  type WireFormat,
} from "./wire.ts";

export const openaiChat: WireFormat = {
  read(body) {
    const messages = asList(body.messages);
    const newestUser = messages.findLastIndex(({ role }) => role === "user");
    const later = messages.slice(newestUser + 1);
    const lastAnswer = later.findLastIndex(({ role }) => role === "assistant");
    return {
      model: String(body.model),
      isStream: body.stream === true,
      system: textsBy(messages, /^(system|developer)$/).join("\n"),
      userTexts: textsBy(messages, /^user$/),
      userText: textOf(messages[newestUser]?.content),
      round: later.filter(({ role }) => role === "assistant").length,
      toolResults: later
        .slice(lastAnswer + 1)
        .filter(({ role }) => role === "tool")
        .map(({ content }) => textOf(content)),
      toolNames: asList(body.tools).map((tool) =>
        String((tool.function as Json | undefined)?.name),
      ),
    };
  },

  whole(reply, { model }) {
    const message: Json = { role: "assistant", content: reply.pieces.join("") || null };
    if (reply.reasoning) message.reasoning_content = reply.reasoning;
    if (reply.calls.length > 0) message.tool_calls = toolCalls(reply);
    const choices = [{ index: 0, message, finish_reason: finishReason(reply) }];
    return {
      id: shortId("chatcmpl-"),
      object: "chat.completion",
      created: 1,
      model,
      choices,
      usage: usageOf(reply),
    };
  },

  async stream(reply, { model }, sink) {
    const head = { id: shortId("chatcmpl-"), object: "chat.completion.chunk", created: 1, model };
    const send = (delta: Json, finish: string | null = null) =>
      sink.event({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
    send({ role: "assistant", content: "" });
    if (reply.reasoning) send({ reasoning_content: reply.reasoning });
    if (!(await eachPiece(reply, sink, (content) => send({ content })))) return;
    toolCalls(reply).forEach((call, index) => {
      const { name, arguments: whole } = call.function as { name: string; arguments: string };
      const [first = "", ...rest] = argumentPieces(reply, whole);
      send({ tool_calls: [{ index, ...call, function: { name, arguments: first } }] });
      for (const piece of rest) send({ tool_calls: [{ index, function: { arguments: piece } }] });
    });
    send({}, finishReason(reply));
    sink.event({ ...head, choices: [], usage: usageOf(reply) });
    sink.event("[DONE]");
  },

  error: (_status, said) => ({
    error: said
      ? { ...said, code: said.type }
      : { message: "scripted failure", type: "server_error" },
  }),
};

function toolCalls(reply: Reply): Json[] {
  const ids = callIds(reply, "call_");
  return reply.calls.map(({ name, json }, place) => ({
    id: ids[place],
    type: "function",
    function: { name, arguments: json },
  }));
}

function finishReason({ calls }: Reply): string {
  return calls.length > 0 ? "tool_calls" : "stop";
}

function usageOf({ usage }: Reply): Json {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}
