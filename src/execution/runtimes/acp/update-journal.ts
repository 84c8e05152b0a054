/**
 * Turns an agent's stream of updates into entries. Text and reasoning are shown as they come and
 * journaled when the agent moves on to something else; a tool call is journaled when it begins and
 * when it ends. The agent does not wait for us, so items are appended without holding it up.
 */
import type {
  ContentChunk,
  SessionUpdate,
  ToolCallContent,
  ToolCallUpdate,
} from "@agentclientprotocol/sdk";
import type { Turn } from "#execution/runtimes/runtime.ts";
import type { JournalItem } from "#protocol/events.ts";

interface OpenText {
  entryId: string;
  messageId: string | null;
  kind: "text" | "reasoning";
  text: string;
}

interface Call {
  tool: string;
  input: unknown;
  title: string;
  kind: string | null;
  isBegun: boolean;
  isEnded: boolean;
  begunAt: number;
}

export class UpdateJournal {
  readonly #turn: Turn;
  readonly #calls = new Map<string, Call>();
  #open: OpenText | null = null;
  #lastText: string | undefined;
  /** Resolves when everything appended so far is durable. */
  #durable: Promise<unknown> = Promise.resolve();

  constructor(turn: Turn) {
    this.#turn = turn;
  }

  get lastText(): string | undefined {
    return this.#open?.kind === "text" ? this.#open.text : this.#lastText;
  }

  take(update: SessionUpdate): void {
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
        this.#write("text", update);
        break;
      case "agent_thought_chunk":
        this.#write("reasoning", update);
        break;
      case "tool_call":
      case "tool_call_update":
        this.#takeCall(update);
        break;
      default:
    }
  }

  /** Journals the beginning of a call, durably, before somebody is asked about it. */
  async beginCall(update: ToolCallUpdate): Promise<Call> {
    const call = this.#callOf(update);
    this.#begin(update.toolCallId, call);
    await this.#durable;
    return call;
  }

  /** Items that are still unwritten when the turn ends. */
  end(isCut: boolean): JournalItem[] {
    const open = this.#open;
    this.#open = null;
    return open ? [{ ...itemOf(open), ...(isCut ? { partial: true } : {}) }] : [];
  }

  #write(kind: OpenText["kind"], { content, messageId = null }: ContentChunk): void {
    if (content.type !== "text" || content.text === "") return;
    const { text } = content;
    let open = this.#open;
    if (open?.kind !== kind || open.messageId !== messageId) {
      this.#closeText();
      open = { entryId: this.#turn.entryId(), messageId, kind, text: "" };
      this.#open = open;
    }
    open.text += text;
    this.#turn.delta({ entryId: open.entryId, kind, text });
  }

  #closeText(): void {
    if (!this.#open) return;
    if (this.#open.kind === "text") this.#lastText = this.#open.text;
    this.#append(itemOf(this.#open));
    this.#open = null;
  }

  #takeCall(update: ToolCallUpdate): void {
    const call = this.#callOf(update);
    const { status, toolCallId } = update;
    if (status === "in_progress" || status === "completed" || status === "failed")
      this.#begin(toolCallId, call);
    if (status !== "completed" && status !== "failed") return;
    if (call.isEnded) return;
    call.isEnded = true;
    const output = update.rawOutput ?? textOf(update.content);
    this.#append({
      type: "post_tool",
      entryId: this.#turn.entryId(),
      callId: toolCallId,
      tool: call.tool,
      input: call.input,
      output,
      error: status === "failed" ? textOf(update.content) || "The tool failed." : null,
      durationMs: Math.round(performance.now() - call.begunAt),
    });
  }

  #callOf(update: ToolCallUpdate): Call {
    let call = this.#calls.get(update.toolCallId);
    if (!call) {
      const tool = update.name ?? update.title ?? update.kind ?? "tool";
      call = {
        tool,
        input: {},
        title: tool,
        kind: null,
        isBegun: false,
        isEnded: false,
        begunAt: 0,
      };
      this.#calls.set(update.toolCallId, call);
    }
    const { rawInput } = update;
    if (!call.isBegun && rawInput !== undefined && rawInput !== null) call.input = rawInput;
    call.title = update.title ?? call.title;
    call.kind = update.kind ?? call.kind;
    return call;
  }

  #begin(callId: string, call: Call): void {
    if (call.isBegun) return;
    call.isBegun = true;
    call.begunAt = performance.now();
    this.#closeText();
    const { tool, input } = call;
    this.#append({ type: "pre_tool", entryId: this.#turn.entryId(), callId, tool, input });
  }

  #append(item: JournalItem): void {
    this.#durable = this.#turn.append(item);
    this.#durable.catch(() => {}); // A lost run also kills the agent.
  }
}

function itemOf({ entryId, kind, text }: OpenText): JournalItem & { type: "message" } {
  return { type: "message", entryId, kind, text };
}

function textOf(content: readonly ToolCallContent[] | null | undefined): string {
  return (content ?? [])
    .flatMap((part) =>
      part.type === "content" && part.content.type === "text" ? [part.content.text] : [],
    )
    .join("\n");
}
