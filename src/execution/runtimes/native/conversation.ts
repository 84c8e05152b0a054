/**
 * A thread's entries as the messages a model reads. Providers are strict about these: every tool
 * call is followed by its result and no result stands without its call, whatever was cut short.
 */
import type {
  AssistantPart,
  ModelMessage,
  ToolResultPart,
  UserPart,
} from "#execution/models/model.ts";
import { type ImageRef, INTERRUPTED, type JournalItem } from "#protocol/events.ts";
import type { HistoryItem } from "#protocol/frames.ts";
import type { Attachment } from "#protocol/sessions.ts";

export type PreTool = Extract<JournalItem, { type: "pre_tool" }>;
export type PostTool = Extract<JournalItem, { type: "post_tool" }>;
type PromptItem = Extract<HistoryItem["item"], { type: "prompt" }>;

/** Gives the content of an image or a text file; null when it is gone. */
export type FetchContent = (sha256: string) => Promise<{ mediaType: string; data: string } | null>;

/** What was said, in order: prompts and what the model and its tools answered. */
export class Conversation {
  readonly messages: ModelMessage[] = [];
  readonly #fetch: FetchContent;
  #parts: AssistantPart[] = [];
  #results = new Map<string, ToolResultPart>();
  #step: number | undefined;

  constructor(fetch: FetchContent) {
    this.#fetch = fetch;
  }

  async addPrompt({ text, attachments }: Pick<PromptItem, "text" | "attachments">): Promise<void> {
    this.close();
    const content: UserPart[] = [{ type: "text", text }];
    for (const attachment of attachments) content.push(await this.#attached(attachment));
    this.#push({ role: "user", content });
  }

  addNote(text: string): void {
    this.close();
    this.#push({ role: "user", content: [{ type: "text", text }] });
  }

  async add(item: JournalItem): Promise<void> {
    switch (item.type) {
      case "message":
        // Reasoning may be all in what its provider alone can read.
        if (item.text === "" && item.meta === undefined) return;
        this.#beginResponse(item.step);
        this.#parts.push({ type: item.kind, text: item.text, ...metaOf(item) });
        return;
      case "pre_tool":
        this.#beginResponse(item.step);
        this.#parts.push({
          type: "tool_call",
          callId: item.callId,
          tool: item.tool,
          input: objectOf(item.input),
          ...metaOf(item),
        });
        return;
      case "post_tool":
        this.#results.set(item.callId, await this.#resultOf(item));
        return;
      default:
    }
  }

  /** Ends the response that is being put together. */
  close(): void {
    const parts = this.#parts;
    const results = this.#results;
    this.#parts = [];
    this.#results = new Map();
    if (parts.length === 0) return;
    const calls = parts.filter((part) => part.type === "tool_call");
    // A response of nothing but reasoning is none to a provider.
    if (calls.length === 0 && !parts.some((part) => part.type === "text")) return;
    this.#push({ role: "assistant", content: parts });
    if (calls.length === 0) return;
    this.#push({
      role: "tool",
      content: calls.map(({ callId, tool }) => results.get(callId) ?? unanswered(callId, tool)),
    });
  }

  /** A step is one response; entries without one begin anew after each result. */
  #beginResponse(step: number | undefined): void {
    const isNext = step === undefined ? this.#results.size > 0 : step !== this.#step;
    if (isNext || this.#results.size > 0) this.close();
    this.#step = step;
  }

  /**
   * Shortens what tools were given and gave back before the newest messages, for a model that cannot read so much.
   * False when there is nothing left to shorten.
   */
  shrink(): boolean {
    const old = this.messages.slice(0, -KEPT_WHOLE);
    const before = JSON.stringify(old).length;
    for (const message of old) {
      if (message.role === "tool")
        for (const result of message.content) result.content = result.content.map(shortenPart);
      else if (message.role === "assistant")
        for (const part of message.content)
          if (part.type === "tool_call") part.input = shortenInput(part.input);
    }
    return JSON.stringify(old).length < before;
  }

  /** Two messages of one person in a row become one: providers want them to take turns. */
  #push(message: ModelMessage): void {
    const last = this.messages.at(-1);
    if (message.role === "user" && last?.role === "user") last.content.push(...message.content);
    else this.messages.push(message);
  }

  async #resultOf(item: PostTool): Promise<ToolResultPart> {
    const content: UserPart[] = [{ type: "text", text: resultText(item) }];
    for (const image of item.images ?? []) content.push(await this.#image(image));
    return {
      callId: item.callId,
      tool: item.tool,
      content,
      isError: item.error !== null,
    };
  }

  async #image({ sha256, mediaType }: ImageRef): Promise<UserPart> {
    const blob = await this.#fetch(sha256);
    if (!blob) return { type: "text", text: "[an image that is no longer kept]" };
    return { type: "image", mediaType, data: blob.data };
  }

  async #attached({ name, mediaType, sha256, size }: Attachment): Promise<UserPart> {
    if (mediaType.startsWith("image/")) return this.#image({ sha256, mediaType });
    const blob = isText(mediaType) ? await this.#fetch(sha256) : null;
    if (!blob)
      return { type: "text", text: `[attached: ${name}, ${mediaType}, ${size} bytes, not shown]` };
    const text = Buffer.from(blob.data, "base64").toString("utf8").slice(0, MAX_ATTACHED_CHARS);
    return { type: "text", text: `[attached: ${name}]\n${text}` };
  }
}

const MAX_ATTACHED_CHARS = 200_000;
/** The newest messages, which the model is working with. */
const KEPT_WHOLE = 6;
const SHORT_CHARS = 600;
const SHORTENED = "\n[… shortened later …]";

function shortenPart(part: UserPart): UserPart {
  if (part.type === "image") return { type: "text", text: "[an image that was shown before]" };
  return { type: "text", text: shortenText(part.text) };
}

function shortenInput(input: unknown): unknown {
  const fields = Object.entries(input as Record<string, unknown>);
  return Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === "string" ? shortenText(value) : value]),
  );
}

function shortenText(text: string): string {
  return text.length <= SHORT_CHARS ? text : `${text.slice(0, SHORT_CHARS)}${SHORTENED}`;
}

function isText(mediaType: string): boolean {
  return /^text\/|^application\/(json|xml|yaml|toml|javascript|x-sh)/.test(mediaType);
}

/** What a model reads of a result. */
export function resultText({ output, error, exitCode }: PostTool): string {
  const text = typeof output === "string" ? output : output == null ? "" : JSON.stringify(output);
  const ended = exitCode ? `[exit code ${exitCode}]` : "";
  return [text, error ?? "", ended].filter((part) => part !== "").join("\n") || "(no output)";
}

function unanswered(callId: string, tool: string): ToolResultPart {
  return { callId, tool, content: [{ type: "text", text: INTERRUPTED }], isError: true };
}

/** Providers take objects only; what is none was never performed either. */
function objectOf(input: unknown): Record<string, unknown> {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return isObject ? (input as Record<string, unknown>) : { unparsed: input };
}

function metaOf({ meta }: { meta?: Record<string, unknown> | undefined }) {
  return meta === undefined ? {} : { meta };
}
