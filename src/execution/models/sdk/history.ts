/**
 * History in a form that every provider accepts. It may come from another model: parts that only
 * their author understands are left out, blank texts too, and names and ids that a provider would
 * refuse are rewritten.
 */

import { createHash } from "node:crypto";
import type {
  AssistantPart,
  ModelMessage,
  ProviderMeta,
  ToolResultPart,
  UserPart,
} from "../model.ts";
import type { ProviderKind } from "./kinds.ts";

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
const EMPTY: UserPart = { type: "text", text: "(empty)" };

/** First text of a failed result with images, which is not marked as failed: Anthropic refuses that. */
export const TOOL_FAILED = "The tool failed.";

export function metaBy(author: Author, fields: ProviderMeta): ProviderMeta {
  return { ...fields, [AUTHOR]: { provider: author.provider, model: author.model } };
}

/**
 * Messages as they may be sent. No content is empty, and `meta` is present only on parts that the
 * target itself wrote, without the author.
 */
export function acceptedHistory(messages: readonly ModelMessage[], target: Target): ModelMessage[] {
  return messages.flatMap((message): ModelMessage[] => {
    if (message.role === "user") return [{ role: "user", content: userContent(message.content) }];
    if (message.role === "tool") return [{ role: "tool", content: message.content.map(toResult) }];
    const content = message.content.flatMap((part) => assistantPart(part, target));
    return content.length > 0 ? [{ role: "assistant", content }] : [];
  });
}

function userContent(parts: readonly UserPart[]): UserPart[] {
  const content = parts.filter((part) => part.type === "image" || part.text.trim() !== "");
  return content.length > 0 ? content : [EMPTY];
}

function toResult({ callId, tool, content, isError }: ToolResultPart): ToolResultPart {
  const parts = content.filter((part) => part.type === "image" || part.text !== "");
  return {
    callId: safeCallId(callId),
    tool: safeToolName(tool),
    content: parts.length > 0 ? parts : [EMPTY],
    isError,
  };
}

function assistantPart(part: AssistantPart, target: Target): AssistantPart[] {
  const own = ownMeta(part.meta, target);
  const meta = own ? { meta: own } : {};
  if (part.type === "text") {
    return part.text.trim() === "" ? [] : [{ type: "text", text: part.text, ...meta }];
  }
  // Reasoning is bound to the model that wrote it: another model refuses its signature.
  if (part.type === "reasoning") {
    const isSent = own !== null && target.sendsReasoning;
    return isSent ? [{ type: "reasoning", text: part.text, ...meta }] : [];
  }
  return [
    {
      type: "tool_call",
      callId: safeCallId(part.callId),
      tool: safeToolName(part.tool),
      input: asObject(part.input),
      ...meta,
    },
  ];
}

/** Provider metadata of a part, if this same model wrote it. */
function ownMeta(meta: ProviderMeta | undefined, target: Author): ProviderMeta | null {
  if (!meta) return null;
  const { [AUTHOR]: author, ...fields } = meta as Record<string, Partial<Author>>;
  if (author?.provider !== target.provider || author.model !== target.model) return null;
  return fields;
}

/** A model may have invented the name; the provider would refuse the whole history because of it. */
function safeToolName(name: string): string {
  return name.replace(/[^\w-]/g, "_").slice(0, MAX_NAME_CHARS) || "unnamed";
}

function safeCallId(id: string): string {
  if (/^[\w-]{1,64}$/.test(id)) return id;
  return `call_${createHash("sha256").update(id).digest("hex").slice(0, 24)}`;
}

function asObject(input: unknown): object {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return isObject ? input : { unparsed: String(input) };
}
