/** What the three wire formats have in common. */
import { randomUUID } from "node:crypto";
import type { Conversation, Reply } from "./script.ts";

export type Json = Record<string, unknown>;

export interface EventSink {
  /** Sends one server-sent event; false when the client has gone. */
  event(data: Json | string, name?: string): boolean;
  /** Waits as long as the script asks for between two pieces; false when the client has gone. */
  pause(): Promise<boolean>;
}

export interface WireFormat {
  read(body: Json): Conversation;
  /** The whole answer as one JSON object. */
  whole(reply: Reply, conversation: Conversation): Json;
  stream(reply: Reply, conversation: Conversation, sink: EventSink): Promise<void>;
  error(status: number): Json;
}

export function shortId(prefix: string): string {
  return `${prefix}${randomUUID().slice(0, 8)}`;
}

export function asList(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

/** The text of a message's content, whichever way it is written. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return asList(content)
    .filter(({ type }) => type === "text" || type === "input_text" || type === "output_text")
    .map(({ text }) => String(text))
    .join("\n");
}

/** Sends the pieces with the script's pauses between them; false when the client has gone. */
export async function eachPiece(
  reply: Reply,
  sink: EventSink,
  send: (piece: string) => boolean,
): Promise<boolean> {
  for (const piece of reply.pieces) {
    if (!send(piece) || !(await sink.pause())) return false;
  }
  return true;
}
