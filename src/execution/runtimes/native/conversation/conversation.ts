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
import { INTERRUPTED, type JournalItem } from "#protocol/events.ts";
import type { HistoryItem } from "#protocol/frames.ts";
import type { Attachment } from "#protocol/sessions.ts";
import { MAX_ATTACHED_CHARS, shortenText } from "./entry-text.ts";
import { type FetchContent, IMAGE_BEFORE, ImageBudget } from "./images.ts";

export type PreTool = Extract<JournalItem, { type: "pre_tool" }>;
export type PostTool = Extract<JournalItem, { type: "post_tool" }>;
type PromptItem = Extract<HistoryItem["item"], { type: "prompt" }>;

/** Messages in order: prompts, and the answers of the model and its tools. */
export class Conversation {
  readonly messages: ModelMessage[] = [];
  readonly #fetch: FetchContent;
  readonly #images: ImageBudget;
  #parts: AssistantPart[] = [];
  #results = new Map<string, ToolResultPart>();
  #step: number | undefined;
  readonly #heldNotes: string[] = [];

  constructor(fetch: FetchContent) {
    this.#fetch = fetch;
    this.#images = new ImageBudget(fetch);
  }

  async addPrompt({ text, attachments }: Pick<PromptItem, "text" | "attachments">): Promise<void> {
    this.close();
    const content: UserPart[] = [{ type: "text", text }];
    content.push(...(await Promise.all(attachments.map((one) => this.#attached(one)))));
    this.#push({ role: "user", content });
  }

  /** Adds a note behind the results of open calls: nothing may stand between a call and its result. */
  addNote(text: string): void {
    if (this.#hasOpenCalls) {
      this.#heldNotes.push(text);
      return;
    }
    this.close();
    this.#push({ role: "user", content: [{ type: "text", text }] });
  }

  add(item: JournalItem): void {
    switch (item.type) {
      case "message":
        // Reasoning may consist only of metadata that its provider alone can read.
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
        this.#results.set(item.callId, this.#resultOf(item));
        return;
      case "notice":
        if (item.forModel) this.addNote(item.text);
        return;
      default:
    }
  }

  /** Makes the conversation ready to be sent: no response is open, and the newest images are there. */
  async prepare(): Promise<void> {
    this.close();
    await this.#images.fill(this.messages);
  }

  /** Ends the response that is being built. */
  close(): void {
    this.#closeResponse();
    for (const text of this.#heldNotes.splice(0))
      this.#push({ role: "user", content: [{ type: "text", text }] });
  }

  get #hasOpenCalls(): boolean {
    return this.#parts.some((part) => part.type === "tool_call" && !this.#results.has(part.callId));
  }

  #closeResponse(): void {
    const parts = this.#parts;
    const results = this.#results;
    this.#parts = [];
    this.#results = new Map();
    if (parts.length === 0) return;
    const calls = parts.filter((part) => part.type === "tool_call");
    // Providers do not accept a response of nothing but reasoning.
    if (calls.length === 0 && !parts.some((part) => part.type === "text")) return;
    this.#push({ role: "assistant", content: parts });
    if (calls.length === 0) return;
    this.#push({
      role: "tool",
      content: calls.map(({ callId, tool }) => results.get(callId) ?? unanswered(callId, tool)),
    });
  }

  /** Begins a response. A step is one response; entries without a step begin anew after each result. */
  #beginResponse(step: number | undefined): void {
    const isNext = step === undefined ? this.#results.size > 0 : step !== this.#step;
    if (isNext || this.#results.size > 0) this.close();
    this.#step = step;
  }

  /**
   * Shortens the inputs and outputs of tools before the newest messages, and removes their images,
   * for a model that cannot read so much; then the images of all but the last message. False when
   * there is nothing left to shorten.
   */
  shrink(): boolean {
    const old = this.messages.slice(0, -KEPT_WHOLE);
    const isSmaller = becomesSmaller(old, () => old.forEach(shortenMessage));
    const all = this.messages.slice(0, -1);
    return isSmaller || becomesSmaller(all, () => all.forEach(dropImages));
  }

  /** Merges two messages of one role in a row: providers want them to alternate. */
  #push(message: ModelMessage): void {
    const last = this.messages.at(-1);
    if (message.role === "user" && last?.role === "user") last.content.push(...message.content);
    else this.messages.push(message);
  }

  #resultOf(item: PostTool): ToolResultPart {
    const images = (item.images ?? []).map((image) => this.#images.put(image));
    return {
      callId: item.callId,
      tool: item.tool,
      content: [{ type: "text", text: resultText(item) }, ...images],
      isError: item.error !== null,
    };
  }

  async #attached({ name, mediaType, sha256, size }: Attachment): Promise<UserPart> {
    if (mediaType.startsWith("image/")) return this.#images.put({ sha256, mediaType });
    const blob = isText(mediaType) ? await this.#fetch(sha256) : null;
    if (!blob)
      return { type: "text", text: `[attached: ${name}, ${mediaType}, ${size} bytes, not shown]` };
    const text = Buffer.from(blob.data, "base64").toString("utf8").slice(0, MAX_ATTACHED_CHARS);
    return { type: "text", text: `[attached: ${name}]\n${text}` };
  }
}

/** Newest messages, which the model is working with. */
const KEPT_WHOLE = 6;
const SHORT_CHARS = 600;

function becomesSmaller(messages: readonly ModelMessage[], change: () => void): boolean {
  const before = JSON.stringify(messages).length;
  change();
  return JSON.stringify(messages).length < before;
}

function shortenMessage(message: ModelMessage): void {
  dropImages(message);
  if (message.role === "tool")
    for (const result of message.content) result.content = result.content.map(shortenPart);
  else if (message.role === "assistant")
    for (const part of message.content)
      if (part.type === "tool_call") part.input = shortenInput(part.input);
}

function dropImages(message: ModelMessage): void {
  if (message.role === "user") message.content = message.content.map(withoutImage);
  else if (message.role === "tool")
    for (const result of message.content) result.content = result.content.map(withoutImage);
}

function withoutImage(part: UserPart): UserPart {
  return part.type === "image" ? { type: "text", text: IMAGE_BEFORE } : part;
}

function shortenPart(part: UserPart): UserPart {
  return part.type === "image" ? part : { type: "text", text: shortenText(part.text, SHORT_CHARS) };
}

function shortenInput(input: unknown): unknown {
  const fields = Object.entries(input as Record<string, unknown>);
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name,
      typeof value === "string" ? shortenText(value, SHORT_CHARS) : value,
    ]),
  );
}

function isText(mediaType: string): boolean {
  return /^text\/|^application\/(json|xml|yaml|toml|javascript|x-sh)/.test(mediaType);
}

/** Text of a tool result for the model. */
export function resultText({ output, error, exitCode }: PostTool): string {
  const text = typeof output === "string" ? output : output == null ? "" : JSON.stringify(output);
  const ended = exitCode ? `[exit code ${exitCode}]` : "";
  return [text, error ?? "", ended].filter((part) => part !== "").join("\n") || "(no output)";
}

function unanswered(callId: string, tool: string): ToolResultPart {
  return { callId, tool, content: [{ type: "text", text: INTERRUPTED }], isError: true };
}

/** Providers accept objects only; a call with another input was never performed either. */
function objectOf(input: unknown): Record<string, unknown> {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  return isObject ? (input as Record<string, unknown>) : { unparsed: input };
}

function metaOf({ meta }: { meta?: Record<string, unknown> | undefined }) {
  return meta === undefined ? {} : { meta };
}
