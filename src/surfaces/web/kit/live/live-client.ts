/**
 * WebSocket client for all topics of the page. Owns the cursor of each session topic: a reader gets
 * every durable event after its start exactly once and in order, whatever the connection does. Deltas
 * are passed on as they come; they carry their own offsets.
 */
import type { Delta, SessionEvent } from "#protocol/events.ts";
import type { LiveClientFrame } from "#protocol/live.ts";
import { type Hint, readFrame } from "./live-frame.ts";

export type Connection = "connecting" | "live" | "reconnecting" | "offline";

export interface LiveReader {
  onEvent?(event: SessionEvent): void;
  onDelta?(delta: Delta): void;
  onHint?(hint: Hint): void;
  /** Called when streamed text may have gaps: drop unfinished text. */
  onReset?(): void;
  /** Called when the server has confirmed the subscription, for the first time or again. */
  onSubscribed?(): void;
  /** Called when the socket is back: hints may have been missed. */
  onReconnect?(): void;
  onRefused?(code: string, message: string): void;
}

/** Used part of a browser WebSocket, so that tests can replace it. */
export interface Socket {
  send(text: string): void;
  close(): void;
  onopen: (() => void) | null;
  onmessage: ((message: { data: unknown }) => void) | null;
  onclose: (() => void) | null;
}

export interface LiveClientOptions {
  open: () => Socket;
  setTimer: (run: () => void, afterMs: number) => unknown;
  clearTimer: (timer: unknown) => void;
  random: () => number;
}

interface Topic {
  reader: LiveReader;
  /** Last event passed to the reader; undefined for topics without a log. */
  cursor: number | undefined;
  /** Cursor of a gap seen once: the events are requested again, and the gap is accepted if it remains. */
  holeAt: number | undefined;
  /** Number of subscribe frames without an answer. */
  unanswered: number;
}

const FIRST_RETRY_MS = 400;
const MAX_RETRY_MS = 15_000;
/** Number of failed attempts after which "reconnecting" becomes "offline". */
const OFFLINE_AFTER = 4;

export class LiveClient {
  readonly #options: LiveClientOptions;
  readonly #topics = new Map<string, Topic>();
  readonly #listeners = new Set<() => void>();
  #socket: Socket | undefined;
  #isOpen = false;
  #wasOpen = false;
  #failures = 0;
  #retry: unknown;
  #connection: Connection = "connecting";

  constructor(options: LiveClientOptions) {
    this.#options = options;
  }

  get connection(): Connection {
    return this.#connection;
  }

  onConnectionChange = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  start(): void {
    if (this.#socket === undefined) this.#connect();
  }

  stop(): void {
    this.#options.clearTimer(this.#retry);
    const socket = this.#socket;
    this.#socket = undefined;
    this.#isOpen = false;
    if (socket) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
  }

  /** Reconnects without waiting for the timer: the network came back or the page is visible again. */
  retryNow(): void {
    if (this.#socket !== undefined) return;
    this.#options.clearTimer(this.#retry);
    this.#connect();
  }

  /** Adds the one reader of a topic. `after` is the last event that the reader already has. */
  subscribe(topic: string, reader: LiveReader, after?: number): () => void {
    const entry: Topic = { reader, cursor: after, holeAt: undefined, unanswered: 0 };
    this.#topics.set(topic, entry);
    this.#sendSubscribe(topic, entry);
    return () => {
      if (this.#topics.get(topic) !== entry) return;
      this.#topics.delete(topic);
      this.#send({ op: "unsubscribe", topic });
    };
  }

  #connect(): void {
    const socket = this.#options.open();
    this.#socket = socket;
    socket.onopen = () => this.#opened();
    socket.onmessage = (message) => this.#received(message.data);
    socket.onclose = () => this.#closed();
  }

  #opened(): void {
    const isReturn = this.#wasOpen;
    this.#isOpen = true;
    this.#wasOpen = true;
    this.#failures = 0;
    this.#show("live");
    for (const [name, topic] of this.#topics) {
      topic.unanswered = 0;
      this.#sendSubscribe(name, topic);
      if (isReturn) topic.reader.onReconnect?.();
    }
  }

  #closed(): void {
    this.#socket = undefined;
    this.#isOpen = false;
    this.#failures += 1;
    this.#show(this.#failures > OFFLINE_AFTER ? "offline" : "reconnecting");
    const ceilingMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (this.#failures - 1));
    const waitMs = ceilingMs / 2 + (ceilingMs / 2) * this.#options.random();
    this.#retry = this.#options.setTimer(() => this.retryNow(), waitMs);
  }

  #received(text: unknown): void {
    const frame = readFrame(text);
    if (frame === undefined) return;
    const topic = frame.topic === undefined ? undefined : this.#topics.get(frame.topic);
    if (topic === undefined || frame.topic === undefined) return;
    switch (frame.is) {
      case "event":
        this.#event(frame.topic, topic, frame.event);
        break;
      case "delta":
        topic.reader.onDelta?.(frame.delta);
        break;
      case "hint":
        topic.reader.onHint?.(frame.hint);
        break;
      case "subscribed":
        topic.unanswered = Math.max(0, topic.unanswered - 1);
        topic.reader.onSubscribed?.();
        break;
      case "reset":
        topic.reader.onReset?.();
        this.#sendSubscribe(frame.topic, topic);
        break;
      case "refused":
        topic.reader.onRefused?.(frame.code, frame.message);
        break;
    }
  }

  #event(name: string, topic: Topic, event: SessionEvent): void {
    const cursor = topic.cursor ?? 0;
    if (event.seq <= cursor) return;
    if (event.seq > cursor + 1) {
      if (topic.holeAt !== cursor) {
        topic.holeAt = cursor;
        this.#sendSubscribe(name, topic);
        return;
      }
      // Sent before the server received the request: says nothing about the gap.
      if (topic.unanswered > 0) return;
    }
    topic.cursor = event.seq;
    topic.reader.onEvent?.(event);
  }

  #sendSubscribe(name: string, topic: Topic): void {
    if (!this.#isOpen) return;
    topic.unanswered += 1;
    this.#send(
      topic.cursor === undefined
        ? { op: "subscribe", topic: name }
        : { op: "subscribe", topic: name, after: topic.cursor },
    );
  }

  #send(frame: LiveClientFrame): void {
    if (this.#isOpen) this.#socket?.send(JSON.stringify(frame));
  }

  #show(connection: Connection): void {
    if (this.#connection === connection) return;
    this.#connection = connection;
    for (const listener of this.#listeners) listener();
  }
}
