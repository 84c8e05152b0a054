/** The wire format of Anthropic's Messages API. */
import type { Conversation, Reply } from "./script.ts";
import {
  argumentPieces,
  asList,
  callIds,
  eachPiece,
  type Json,
  shortId,
  textOf,
  type WireFormat,
} from "./wire.ts";

export const anthropicMessages: WireFormat = {
  read(body) {
    const messages = asList(body.messages);
    const newestUser = messages.findLastIndex(
      (message) => message.role === "user" && spokenText(message) !== "",
    );
    const later = messages.slice(newestUser + 1);
    const results = asList(later.at(-1)?.content).filter(({ type }) => type === "tool_result");
    return {
      model: String(body.model),
      isStream: body.stream === true,
      system: textOf(body.system),
      userTexts: messages.filter(({ role }) => role === "user").map(spokenText),
      userText: spokenText(messages[newestUser] ?? {}),
      round: later.filter(({ role }) => role === "assistant").length,
      toolResults: results.map(({ content }) => textOf(content)),
      toolNames: asList(body.tools).map(({ name }) => String(name)),
    };
  },

  whole(reply, { model }) {
    const content: Json[] = [];
    if (reply.reasoning)
      content.push({ type: "thinking", thinking: reply.reasoning, signature: "sig" });
    if (reply.pieces.length > 0) content.push({ type: "text", text: reply.pieces.join("") });
    const ids = callIds(reply, "toolu_");
    for (const [place, { name, json }] of reply.calls.entries()) {
      content.push({ type: "tool_use", id: ids[place], name, input: JSON.parse(json) });
    }
    return {
      ...messageHead(model, reply),
      content,
      stop_reason: stopReason(reply),
      usage: usageOf(reply),
    };
  },

  async stream(reply, { model }, sink) {
    const send = (type: string, data: Json) => sink.event({ type, ...data }, type);
    send("message_start", { message: messageHead(model, reply) });
    let index = 0;
    if (reply.reasoning) {
      send("content_block_start", {
        index,
        content_block: { type: "thinking", thinking: "", signature: "" },
      });
      send("content_block_delta", {
        index,
        delta: { type: "thinking_delta", thinking: reply.reasoning },
      });
      send("content_block_delta", { index, delta: { type: "signature_delta", signature: "sig" } });
      send("content_block_stop", { index: index++ });
    }
    if (reply.pieces.length > 0) {
      send("content_block_start", { index, content_block: { type: "text", text: "" } });
      const sent = await eachPiece(reply, sink, (text) =>
        send("content_block_delta", { index, delta: { type: "text_delta", text } }),
      );
      if (!sent) return;
      send("content_block_stop", { index: index++ });
    }
    const ids = callIds(reply, "toolu_");
    for (const [place, { name, json }] of reply.calls.entries()) {
      const block = { type: "tool_use", id: ids[place], name, input: {} };
      send("content_block_start", { index, content_block: block });
      for (const partial_json of argumentPieces(reply, json)) {
        send("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } });
      }
      send("content_block_stop", { index: index++ });
    }
    const delta = { stop_reason: stopReason(reply), stop_sequence: null };
    const { outputTokens, reasoningTokens } = reply.usage;
    const details = { thinking_tokens: reasoningTokens };
    send("message_delta", {
      delta,
      usage: { output_tokens: outputTokens, output_tokens_details: details },
    });
    send("message_stop", {});
  },

  error(status, said) {
    if (said) return { type: "error", error: said };
    const type =
      status === 529 ? "overloaded_error" : status === 429 ? "rate_limit_error" : "api_error";
    return { type: "error", error: { type, message: "scripted failure" } };
  },
};

/**
 * The user's text. Clients put it into the same message as tool results when both come together,
 * and some add their own reminders to results.
 */
function spokenText({ content }: Json): string {
  if (!asList(content).some(({ type }) => type === "tool_result")) return textOf(content);
  return textOf(
    asList(content).filter(({ text }) => !String(text).startsWith("<system-reminder>")),
  );
}

function stopReason({ calls }: Reply): string {
  return calls.length > 0 ? "tool_use" : "end_turn";
}

function usageOf({ usage }: Reply): Json {
  return {
    input_tokens: usage.inputTokens - usage.cachedTokens,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cachedTokens,
    cache_creation_input_tokens: 0,
  };
}

function messageHead(model: Conversation["model"], reply: Reply): Json {
  return {
    id: shortId("msg_"),
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usageOf(reply), output_tokens: 1 },
  };
}
