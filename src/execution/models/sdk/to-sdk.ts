/**
 * Converts our request to the SDK's form. History may come from another model: parts that only
 * their author understands are left out, and names and ids that a provider would refuse are
 * rewritten.
 */

import { createHash } from "node:crypto";
import type {
  JSONValue,
  LanguageModelV4CallOptions,
  LanguageModelV4FilePart,
  LanguageModelV4FunctionTool,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type {
  AssistantPart,
  ModelMessage,
  ModelRequest,
  ProviderMeta,
  ToolResultPart,
  UserPart,
} from "../model.ts";
import { CACHE_BREAKPOINT, outputTokens, type ProviderKind, providerOptions } from "./kinds.ts";

/** Model that wrote a part; kept beside the provider's own fields in its `meta`. */
export interface Author {
  provider: string;
  model: string;
}

export interface Target extends Author {
  kind: ProviderKind;
  wantsSummaries: boolean;
  /** False when the provider would not take back its own reasoning. */
  sendsReasoning: boolean;
}

const AUTHOR = "muster";
const MAX_NAME_CHARS = 64;
const EMPTY = "(empty)";

export function metaBy(author: Author, fields: ProviderMeta): ProviderMeta {
  return { ...fields, [AUTHOR]: { provider: author.provider, model: author.model } };
}

export function toSdk(request: ModelRequest, target: Target): LanguageModelV4CallOptions {
  const { kind } = target;
  const prompt: LanguageModelV4Message[] = [];
  if (request.system !== "") prompt.push({ role: "system", content: request.system });
  for (const message of request.messages) prompt.push(...toMessages(message, target));
  const tools = request.tools.map((tool) => toTool(tool, kind));
  if (kind === "anthropic") markForCache(prompt, tools);
  const maxOutputTokens = outputTokens(kind, target.model, request.maxOutputTokens);
  return {
    prompt,
    ...(tools.length > 0 ? { tools, toolChoice: { type: "auto" } } : {}),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    providerOptions: providerOptions(kind, {
      model: target.model,
      cacheKey: request.cacheKey,
      wantsSummaries: target.wantsSummaries,
    }),
  };
}

/**
 * Marks the tools, the system prompt and the conversation, so that each is read again from the
 * cache.
 */
function markForCache(
  prompt: LanguageModelV4Message[],
  tools: LanguageModelV4FunctionTool[],
): void {
  const marked = [
    tools.at(-1),
    prompt.find(({ role }) => role === "system"),
    prompt.findLast(({ role }) => role === "user" || role === "tool"),
  ];
  for (const item of marked) if (item) item.providerOptions = CACHE_BREAKPOINT;
}

function toMessages(message: ModelMessage, target: Target): LanguageModelV4Message[] {
  if (message.role === "user") return [{ role: "user", content: toUserContent(message.content) }];
  if (message.role === "tool") return toToolMessages(message.content, target.kind);
  const content = message.content.flatMap((part) => toAssistantPart(part, target));
  return content.length > 0 ? [{ role: "assistant", content }] : [];
}

function toUserContent(
  parts: readonly UserPart[],
): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] {
  const content = parts
    .filter((part) => part.type === "image" || part.text.trim() !== "")
    .map((part) =>
      part.type === "image" ? toFile(part) : { type: "text" as const, text: part.text },
    );
  return content.length > 0 ? content : [{ type: "text", text: EMPTY }];
}

function toFile({
  mediaType,
  data,
}: Extract<UserPart, { type: "image" }>): LanguageModelV4FilePart {
  return { type: "file", mediaType, data: { type: "data", data } };
}

type SdkAssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

function toAssistantPart(part: AssistantPart, target: Target): SdkAssistantPart[] {
  const own = ownMeta(part.meta, target);
  const options = own ? { providerOptions: own } : {};
  if (part.type === "text") {
    return part.text.trim() === "" ? [] : [{ type: "text", text: part.text, ...options }];
  }
  // Reasoning is bound to the model that wrote it: another model refuses its signature.
  if (part.type === "reasoning") {
    const isSent = own !== null && target.sendsReasoning;
    return isSent ? [{ type: "reasoning", text: part.text, ...options }] : [];
  }
  return [
    {
      type: "tool-call",
      toolCallId: safeCallId(part.callId),
      toolName: safeToolName(part.tool),
      input: asObject(part.input),
      ...options,
    },
  ];
}

/** Provider metadata of a part, if this same model wrote it. */
function ownMeta(meta: ProviderMeta | undefined, target: Author): SharedV4ProviderOptions | null {
  if (!meta) return null;
  const { [AUTHOR]: author, ...fields } = meta as Record<string, Partial<Author>>;
  if (author?.provider !== target.provider || author.model !== target.model) return null;
  return fields as SharedV4ProviderOptions;
}

function toToolMessages(
  results: readonly ToolResultPart[],
  kind: ProviderKind,
): LanguageModelV4Message[] {
  // Chat completions accept no images in a result: they follow in the user's name.
  const takesImages = kind === "anthropic" || kind === "openai";
  const content = results.map((result) => toResult(result, takesImages));
  const images = takesImages
    ? []
    : results.flatMap((result) => result.content.filter((part) => part.type === "image"));
  const messages: LanguageModelV4Message[] = [{ role: "tool", content }];
  if (images.length > 0) {
    const note = { type: "text" as const, text: "The images of the tool results above:" };
    messages.push({ role: "user", content: [note, ...images.map(toFile)] });
  }
  return messages;
}

function toResult(result: ToolResultPart, takesImages: boolean): LanguageModelV4ToolResultPart {
  const parts = result.content.filter((part) => part.type === "image" || part.text !== "");
  const hasImages = takesImages && parts.some(({ type }) => type === "image");
  const head = {
    type: "tool-result" as const,
    toolCallId: safeCallId(result.callId),
    toolName: safeToolName(result.tool),
  };
  if (hasImages) {
    const value = parts.map((part) =>
      part.type === "image" ? toFile(part) : { type: "text" as const, text: part.text },
    );
    const failed = { type: "text" as const, text: "The tool failed." };
    return {
      ...head,
      output: { type: "content", value: result.isError ? [failed, ...value] : value },
    };
  }
  const text = parts.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n");
  return {
    ...head,
    output: { type: result.isError ? "error-text" : "text", value: text || EMPTY },
  };
}

/** A model may have invented the name; the provider would refuse the whole history because of it. */
function safeToolName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, MAX_NAME_CHARS) || "unnamed";
}

function safeCallId(id: string): string {
  if (/^[\w-]{1,64}$/.test(id)) return id;
  return `call_${createHash("sha256").update(id).digest("hex").slice(0, 24)}`;
}

function asObject(input: unknown): JSONValue {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return (isObject ? input : { unparsed: String(input) }) as JSONValue;
}

function toTool(
  { name, description, inputSchema }: ModelRequest["tools"][number],
  kind: ProviderKind,
): LanguageModelV4FunctionTool {
  const strict = kind === "openai" ? { strict: false } : {};
  return { type: "function", name, description, inputSchema, ...strict };
}
