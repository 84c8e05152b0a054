/** Shared parts of the three wire formats. */
import { randomUUID } from "node:crypto";
import type { Conversation, Fault, Reply } from "./script.ts";

export type Json = Record<string, unknown>;

export interface EventSink {
  /** Sends one server-sent event; false when the client has disconnected. */
  event(data: Json | string, name?: string): boolean;
  /** Waits for the script's pause between two pieces; false when the client has disconnected. */
  pause(): Promise<boolean>;
  /** Waits until the client has read everything; false when it has disconnected. */
  drain(): Promise<boolean>;
  /** Sends raw text; false when the client has disconnected. */
  raw(text: string): boolean;
  /** Breaks the connection after everything sent has left. */
  cut(): Promise<void>;
  /** Resolves when the client has disconnected. */
  gone(): Promise<void>;
}

export interface WireFormat {
  read(body: Json): Conversation;
  /** The whole answer as one JSON object. */
  whole(reply: Reply, conversation: Conversation): Json;
  stream(reply: Reply, conversation: Conversation, sink: EventSink): Promise<void>;
  error(status: number, said?: { type: string; message: string } | null): Json;
}

export function shortId(prefix: string): string {
  return `${prefix}${randomUUID().slice(0, 8)}`;
}

export function asList(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

/** The text of a message's content, in either form. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return asList(content)
    .filter(({ type }) => type === "text" || type === "input_text" || type === "output_text")
    .map(({ text }) => String(text))
    .join("\n");
}

/** The texts of the messages whose role matches, in order. */
export function textsBy(messages: readonly Json[], role: RegExp): string[] {
  return messages
    .filter((one) => role.test(String(one.role)))
    .map(({ content }) => textOf(content));
}

/**
 * Sends the pieces with the script's pauses between them; false when the client has disconnected.
 */
export async function eachPiece(
  reply: Reply,
  sink: EventSink,
  send: (piece: string) => boolean,
): Promise<boolean> {
  for (const [index, piece] of reply.pieces.entries()) {
    if (!send(piece) || !(await sink.pause())) return false;
    const last = Math.min(FAULT_AFTER_PIECES, reply.pieces.length) - 1;
    if (reply.fault && index === last) return goWrong(reply.fault, sink);
  }
  return sendHuge(reply, sink, send);
}

const FAULT_AFTER_PIECES = 2;
const HUGE_PIECE = "x".repeat(64 * 1024);

/** Always false: no more of the reply may follow. */
async function goWrong(fault: Fault, sink: EventSink): Promise<boolean> {
  if (fault === "garble") sink.raw('data: {"this is": not json\n\n');
  if (fault === "stall") await sink.gone();
  if (fault === "cut") await sink.cut();
  if (fault === "line") {
    sink.raw("data: ");
    while (sink.raw(HUGE_PIECE) && (await sink.drain()));
  }
  return false;
}

async function sendHuge(
  { hugeBytes }: Reply,
  sink: EventSink,
  send: (piece: string) => boolean,
): Promise<boolean> {
  for (let sent = 0; sent < hugeBytes; sent += HUGE_PIECE.length) {
    if (!send(HUGE_PIECE) || !(await sink.drain())) return false;
  }
  return true;
}

/** The id of each call of a reply. */
export function callIds({ calls, hasSameIds }: Reply, prefix: string): string[] {
  const shared = shortId(prefix);
  return calls.map(() => (hasSameIds ? shared : shortId(prefix)));
}

/** The arguments of a call in pieces of the script's size. */
export function argumentPieces({ splitChars }: Reply, json: string): string[] {
  if (splitChars === 0) return [json];
  return json.match(new RegExp(`.{1,${splitChars}}`, "gsu")) ?? [];
}
