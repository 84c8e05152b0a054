/** Parser of the server's frames. Unknown frames are dropped: servers may be newer. */
import type { Delta, SessionEvent } from "#protocol/events.ts";
import { isRecord } from "../api/api-client.ts";

/** Change notice for one thing: a reason to read it again. */
export interface Hint {
  type: string;
  id: string;
  rev: number;
}

export type ReadFrame =
  | { is: "event"; topic: string; event: SessionEvent }
  | { is: "delta"; topic: string; delta: Delta }
  | { is: "hint"; topic: string; hint: Hint }
  | { is: "subscribed" | "reset"; topic: string }
  | { is: "refused"; topic: string | undefined; code: string; message: string };

export function readFrame(text: unknown): ReadFrame | undefined {
  const frame = parse(text);
  if (frame === undefined) return undefined;
  const topic = typeof frame.topic === "string" ? frame.topic : undefined;
  if (typeof frame.op === "string") return readOp(frame, topic);
  if (topic === undefined || typeof frame.type !== "string") return undefined;
  if (frame.type === "delta") {
    return isDelta(frame) ? { is: "delta", topic, delta: frame } : undefined;
  }
  if (typeof frame.seq === "number") {
    return { is: "event", topic, event: frame as unknown as SessionEvent };
  }
  if (typeof frame.id !== "string") return undefined;
  const rev = typeof frame.rev === "number" ? frame.rev : 0;
  return { is: "hint", topic, hint: { type: frame.type, id: frame.id, rev } };
}

function readOp(frame: Record<string, unknown>, topic: string | undefined): ReadFrame | undefined {
  if (topic !== undefined && (frame.op === "reset" || frame.op === "subscribed")) {
    return { is: frame.op, topic };
  }
  if (frame.op === "error") {
    return { is: "refused", topic, code: String(frame.code), message: String(frame.message) };
  }
  return undefined;
}

function parse(text: unknown): Record<string, unknown> | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isDelta(frame: Record<string, unknown>): frame is Record<string, unknown> & Delta {
  return (
    typeof frame.entryId === "string" &&
    typeof frame.offset === "number" &&
    typeof frame.text === "string"
  );
}
