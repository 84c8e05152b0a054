/** Output of a live socket, with its back-pressure. */
import type { WebSocket } from "ws";
import type { LiveServerFrame } from "#protocol/live.ts";
import type { PreparedDelta, Sink } from "./session-feed.ts";

/**
 * Limit above which a topic is no longer pushed and continues from the database when the socket has drained.
 */
const HIGH_WATER_BYTES = 256 * 1024;
const LOW_WATER_BYTES = 32 * 1024;
export const TEXT = { binary: false };

export interface Drains {
  isFull(): boolean;
  /** Resolves when little is left to send, or when the socket is closed. */
  wait(): Promise<void>;
  /** Called whenever data has left the socket. */
  flushed(): void;
  /** Ends all waits, because the socket is closed. */
  end(): void;
}

export function createDrains(socket: WebSocket): Drains {
  let next: PromiseWithResolvers<void> | undefined;
  const release = () => {
    next?.resolve();
    next = undefined;
  };
  return {
    isFull: () => socket.bufferedAmount > HIGH_WATER_BYTES,
    wait() {
      const isOver = socket.readyState === socket.CLOSED;
      if (isOver || socket.bufferedAmount <= LOW_WATER_BYTES) return Promise.resolve();
      next ??= Promise.withResolvers();
      return next.promise;
    },
    flushed() {
      if (next && socket.bufferedAmount <= LOW_WATER_BYTES) release();
    },
    end: release,
  };
}

interface SocketSink {
  topic: string;
  /** Most followers of a session use the same topic, and share the bytes; one with an alias does not. */
  isShared: boolean;
  party: string;
  drains: Drains;
  send(frame: LiveServerFrame): void;
}

export function sinkOf(
  socket: WebSocket,
  { topic, isShared, party, drains, send }: SocketSink,
): Sink {
  const head = `{"topic":${JSON.stringify(topic)},`;
  const deltaHead = `${head}"type":"delta",`;
  const write = (start: string, piece: PreparedDelta) => {
    const payload =
      (isShared ? piece.payload : undefined) ?? Buffer.from(start + piece.json.slice(1));
    if (isShared) piece.payload = payload;
    socket.send(payload, TEXT, drains.flushed);
  };
  return {
    party,
    isFull: drains.isFull,
    event: (event) => write(head, event),
    delta: (delta) => write(deltaHead, delta),
    drained: drains.wait,
    movedBack: (after) => send({ op: "reset", topic, after }),
  };
}
