/** The wire format of OpenAI's Responses API. */
import type { Reply } from "./script.ts";
import {
  argumentPieces,
  asList,
  callIds,
  type EventSink,
  eachPiece,
  type Json,
  shortId,
  textOf,
  textsBy,
  type WireFormat,
} from "./wire.ts";

export const openaiResponses: WireFormat = {
  read(body) {
    const items =
      typeof body.input === "string" ? [{ role: "user", content: body.input }] : asList(body.input);
    const newestUser = items.findLastIndex(({ role }) => role === "user");
    const later = items.slice(newestUser + 1);
    const lastCall = later.findLastIndex(({ type }) => type === "function_call");
    return {
      model: String(body.model),
      isStream: body.stream === true,
      system: [textOf(body.instructions), ...textsBy(items, /^(system|developer)$/)].join("\n"),
      userTexts: textsBy(items, /^user$/),
      userText: textOf(items[newestUser]?.content),
      round: countRounds(later),
      toolResults: later
        .slice(lastCall + 1)
        .filter(isOutput)
        .map(({ output }) => outputText(output)),
      toolNames: asList(body.tools).map(({ name, type }) => String(name ?? type)),
    };
  },

  whole: (reply, { model }) => finished(head(model), itemsOf(reply), reply),

  async stream(reply, { model }, sink) {
    const base = head(model);
    let sequence = 0;
    const send = (type: string, data: Json) =>
      sink.event({ type, sequence_number: sequence++, ...data }, type);
    send("response.created", { response: base });
    const items = itemsOf(reply);
    for (const [index, item] of items.entries()) {
      const partial = {
        ...item,
        status: "in_progress",
        ...(item.type === "message" ? { content: [] } : {}),
      };
      send("response.output_item.added", {
        output_index: index,
        item: item.type === "function_call" ? { ...partial, arguments: "" } : partial,
      });
      if (!(await streamItem(item, index, reply, sink, send))) return;
      send("response.output_item.done", { output_index: index, item });
    }
    send("response.completed", { response: finished(base, items, reply) });
  },

  error: (_status, said) => ({
    error: said
      ? { ...said, code: said.type }
      : { message: "scripted failure", type: "server_error" },
  }),
};

type Send = (type: string, data: Json) => boolean;

async function streamItem(
  item: Json,
  index: number,
  reply: Reply,
  sink: EventSink,
  send: Send,
): Promise<boolean> {
  const at = { item_id: item.id, output_index: index };
  if (item.type === "function_call") {
    for (const delta of argumentPieces(reply, String(item.arguments))) {
      send("response.function_call_arguments.delta", { ...at, delta });
    }
    return send("response.function_call_arguments.done", { ...at, arguments: item.arguments });
  }
  if (item.type === "reasoning") {
    const part = { ...at, summary_index: 0 };
    send("response.reasoning_summary_part.added", {
      ...part,
      part: { type: "summary_text", text: "" },
    });
    send("response.reasoning_summary_text.delta", { ...part, delta: reply.reasoning });
    return send("response.reasoning_summary_text.done", { ...part, text: reply.reasoning });
  }
  const part = { ...at, content_index: 0 };
  send("response.content_part.added", {
    ...part,
    part: { type: "output_text", text: "", annotations: [] },
  });
  const sent = await eachPiece(reply, sink, (delta) =>
    send("response.output_text.delta", { ...part, delta, logprobs: [] }),
  );
  return (
    sent &&
    send("response.output_text.done", { ...part, text: reply.pieces.join(""), logprobs: [] })
  );
}

function itemsOf(reply: Reply): Json[] {
  const items: Json[] = [];
  if (reply.reasoning) {
    const summary = [{ type: "summary_text", text: reply.reasoning }];
    items.push({
      id: shortId("rs_"),
      type: "reasoning",
      status: "completed",
      summary,
      encrypted_content: "sealed",
    });
  }
  if (reply.pieces.length > 0) {
    const content = [{ type: "output_text", text: reply.pieces.join(""), annotations: [] }];
    items.push({
      id: shortId("msg_"),
      type: "message",
      role: "assistant",
      status: "completed",
      content,
    });
  }
  const ids = callIds(reply, "call_");
  for (const [place, { name, json }] of reply.calls.entries()) {
    items.push({
      id: shortId("fc_"),
      type: "function_call",
      status: "completed",
      name,
      call_id: ids[place],
      arguments: json,
    });
  }
  return items;
}

function head(model: string): Json {
  return {
    id: shortId("resp_"),
    object: "response",
    created_at: 1,
    model,
    status: "in_progress",
    output: [],
  };
}

function finished(base: Json, output: Json[], { usage }: Reply): Json {
  const { inputTokens, cachedTokens, outputTokens, reasoningTokens } = usage;
  return {
    ...base,
    status: "completed",
    output,
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: cachedTokens },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: reasoningTokens },
      total_tokens: inputTokens + outputTokens,
    },
  };
}

/** Parallel calls and their results are one round. */
function countRounds(items: Json[]): number {
  let rounds = 0;
  items.forEach((item, index) => {
    if (isOutput(item) && !isOutput(items[index + 1] ?? {})) rounds++;
  });
  return rounds;
}

function isOutput({ type }: Json): boolean {
  return String(type).endsWith("_output");
}

function outputText(output: unknown): string {
  return typeof output === "string" ? output : textOf(output) || JSON.stringify(output);
}
