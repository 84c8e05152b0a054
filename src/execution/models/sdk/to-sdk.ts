/** Converts our request to the SDK's form. */

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
  ToolResultPart,
  UserPart,
} from "../model.ts";
import { acceptedHistory, type Target, TOOL_FAILED } from "./history.ts";
import { type ProviderKind, providerOptions } from "./kinds.ts";

export function toSdk(request: ModelRequest, target: Target): LanguageModelV4CallOptions {
  const { kind } = target;
  const prompt: LanguageModelV4Message[] = [];
  if (request.system !== "") prompt.push({ role: "system", content: request.system });
  for (const message of acceptedHistory(request.messages, target))
    prompt.push(...toMessages(message, kind));
  const tools = request.tools.map((tool) => toTool(tool, kind));
  const { maxOutputTokens } = request;
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

function toMessages(message: ModelMessage, kind: ProviderKind): LanguageModelV4Message[] {
  if (message.role === "user") return [{ role: "user", content: message.content.map(toContent) }];
  if (message.role === "tool") return toToolMessages(message.content, kind);
  return [{ role: "assistant", content: message.content.map(toAssistantPart) }];
}

function toContent(part: UserPart): LanguageModelV4TextPart | LanguageModelV4FilePart {
  return part.type === "image" ? toFile(part) : { type: "text", text: part.text };
}

function toFile({
  mediaType,
  data,
}: Extract<UserPart, { type: "image" }>): LanguageModelV4FilePart {
  return { type: "file", mediaType, data: { type: "data", data } };
}

type SdkAssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

function toAssistantPart(part: AssistantPart): SdkAssistantPart {
  const { meta } = part;
  const options = meta ? { providerOptions: meta as SharedV4ProviderOptions } : {};
  if (part.type !== "tool_call") return { type: part.type, text: part.text, ...options };
  return {
    type: "tool-call",
    toolCallId: part.callId,
    toolName: part.tool,
    input: part.input as JSONValue,
    ...options,
  };
}

function toToolMessages(
  results: readonly ToolResultPart[],
  kind: ProviderKind,
): LanguageModelV4Message[] {
  // Chat completions accept no images in a result: they follow in the user's name.
  const takesImages = kind === "openai";
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

function toResult(
  { callId, tool, content, isError }: ToolResultPart,
  takesImages: boolean,
): LanguageModelV4ToolResultPart {
  const head = { type: "tool-result" as const, toolCallId: callId, toolName: tool };
  if (takesImages && content.some(({ type }) => type === "image")) {
    const value = content.map(toContent);
    const failed = { type: "text" as const, text: TOOL_FAILED };
    return { ...head, output: { type: "content", value: isError ? [failed, ...value] : value } };
  }
  const value = content.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n");
  return { ...head, output: { type: isError ? "error-text" : "text", value } };
}

function toTool(
  { name, description, inputSchema }: ModelRequest["tools"][number],
  kind: ProviderKind,
): LanguageModelV4FunctionTool {
  const strict = kind === "openai" ? { strict: false } : {};
  return { type: "function", name, description, inputSchema, ...strict };
}
