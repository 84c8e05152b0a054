/** Writes a request for Anthropic's Messages API, as its documentation describes it. */
import type {
  AssistantPart,
  ModelMessage,
  ModelRequest,
  ProviderMeta,
  ToolResultPart,
  UserPart,
} from "../../model.ts";
import { acceptedHistory, type Target, TOOL_FAILED } from "../history.ts";

/** Enough for a large file in one answer. */
const OUTPUT_TOKENS = 32_000;
const SMALL_MODELS: [pattern: RegExp, outputTokens: number][] = [
  [/claude-3-5/, 8192],
  [/claude-(3-(?!7)|2|instant)/, 4096],
];
/** Models that think by themselves, and show it only when asked to. */
const ADAPTIVE_THINKING = /claude-(?:(?:opus|sonnet|haiku|fable)-5|opus-4-[6-8]|sonnet-4-6)/;

interface CacheMark {
  cache_control?: { type: "ephemeral" };
}
type TextBlock = { type: "text"; text: string } & CacheMark;
type ImageBlock = {
  type: "image";
  source: { type: "base64"; media_type: string; data: string };
} & CacheMark;
type ResultBlock = {
  type: "tool_result";
  tool_use_id: string;
  content: string | (TextBlock | ImageBlock)[];
  is_error?: true;
} & CacheMark;
type UserBlock = TextBlock | ImageBlock | ResultBlock;
type AssistantBlock =
  | TextBlock
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "tool_use"; id: string; name: string; input: unknown };
type Message =
  | { role: "user"; content: UserBlock[] }
  | { role: "assistant"; content: AssistantBlock[] };
type Tool = {
  name: string;
  description: string;
  input_schema: object;
  eager_input_streaming: true;
} & CacheMark;

/** Body of the request. */
export function anthropicBody(request: ModelRequest, target: Target): object {
  const { model } = target;
  const messages = toMessages(acceptedHistory(request.messages, target));
  const system: TextBlock[] = request.system === "" ? [] : [textBlock(request.system)];
  const tools = request.tools.map(toTool);
  // Each of the three is read from the cache again while it is the same as before.
  mark(tools.at(-1));
  mark(system.at(-1));
  mark(messages.findLast((message) => message.role === "user")?.content.at(-1));
  return {
    model,
    max_tokens: outputTokens(model, request.maxOutputTokens),
    stream: true,
    ...(ADAPTIVE_THINKING.test(model)
      ? { thinking: { type: "adaptive", display: "summarized" } }
      : {}),
    ...(system.length > 0 ? { system } : {}),
    messages,
    ...(tools.length > 0 ? { tools, tool_choice: { type: "auto" } } : {}),
  };
}

function outputTokens(model: string, asked = OUTPUT_TOKENS): number {
  const limit = SMALL_MODELS.find(([pattern]) => pattern.test(model))?.[1];
  return Math.min(asked, limit ?? Number.POSITIVE_INFINITY);
}

function mark(item: CacheMark | undefined): void {
  if (item) item.cache_control = { type: "ephemeral" };
}

/** Messages in turns of user and assistant; results of tools are the user's. */
function toMessages(history: readonly ModelMessage[]): Message[] {
  const messages: Message[] = [];
  for (const message of history) {
    const { role, content } = toMessage(message);
    const last = messages.at(-1);
    if (content.length === 0) continue;
    if (last?.role === role) (last.content as unknown[]).push(...content);
    else messages.push({ role, content } as Message);
  }
  trimEnd(messages.at(-1));
  for (const message of messages)
    if (message.role === "assistant") message.content = callsLast(message.content);
  return messages;
}

function toMessage(message: ModelMessage): Message {
  if (message.role === "user") return { role: "user", content: message.content.map(toContent) };
  if (message.role === "tool") return { role: "user", content: message.content.map(toResult) };
  return { role: "assistant", content: message.content.flatMap(toAssistantBlock) };
}

/** A last text of the assistant is continued by the model, and must not end with a space. */
function trimEnd(message: Message | undefined): void {
  if (message?.role !== "assistant") return;
  const last = message.content.at(-1);
  if (last?.type === "text") last.text = last.text.trim();
}

function textBlock(text: string): TextBlock {
  return { type: "text", text };
}

function toContent(part: UserPart): TextBlock | ImageBlock {
  if (part.type === "text") return textBlock(part.text);
  const source = { type: "base64" as const, media_type: part.mediaType, data: part.data };
  return { type: "image", source };
}

function toResult({ callId, content, isError }: ToolResultPart): ResultBlock {
  const head = { type: "tool_result" as const, tool_use_id: callId };
  const texts = content.filter((part) => part.type === "text");
  if (texts.length < content.length) {
    const blocks = content.map(toContent);
    return { ...head, content: isError ? [textBlock(TOOL_FAILED), ...blocks] : blocks };
  }
  const text = texts.map((part) => part.text).join("\n");
  return { ...head, content: text, ...(isError ? { is_error: true } : {}) };
}

function toAssistantBlock(part: AssistantPart): AssistantBlock[] {
  if (part.type === "text") return [textBlock(part.text)];
  if (part.type === "reasoning") return toThinking(part.text, part.meta);
  return [{ type: "tool_use", id: part.callId, name: part.tool, input: part.input }];
}

/** Thinking is accepted only with what the provider sent beside it; see `AnthropicEvents`. */
function toThinking(thinking: string, meta: ProviderMeta | undefined): AssistantBlock[] {
  const { signature, redactedData } = (meta?.anthropic ?? {}) as Record<string, unknown>;
  if (typeof signature === "string") return [{ type: "thinking", thinking, signature }];
  if (typeof redactedData === "string") return [{ type: "redacted_thinking", data: redactedData }];
  return [];
}

/**
 * Moves calls behind texts, since no text may stand between calls and their results. Thinking keeps
 * its place: calls stay on their side of it.
 */
function callsLast(blocks: readonly AssistantBlock[]): AssistantBlock[] {
  const sorted: AssistantBlock[] = [];
  let calls: AssistantBlock[] = [];
  for (const block of blocks) {
    if (block.type === "tool_use") {
      calls.push(block);
      continue;
    }
    if (block.type !== "text") {
      sorted.push(...calls);
      calls = [];
    }
    sorted.push(block);
  }
  return [...sorted, ...calls];
}

function toTool({ name, description, inputSchema }: ModelRequest["tools"][number]): Tool {
  // The input of a call is streamed as it is written, not value by value.
  return { name, description, input_schema: inputSchema, eager_input_streaming: true };
}
