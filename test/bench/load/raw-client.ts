/**
 * One kept connection that sends one request at a time, by hand: clients share the machine with the
 * server, and a full HTTP client would cost as much as the work it measures.
 */
import { connect, type Socket } from "node:net";
import type { Target } from "../contenders.ts";

const HEAD_END = "\r\n\r\n";
const EMPTY = Buffer.alloc(0);
const LENGTH = /content-length: (\d+)/i;

export class RawClient {
  readonly #target: Target;
  #socket: Socket;
  #isClosed = false;
  #rest: Buffer = EMPTY;
  #answered: (() => void) | undefined;
  #failed: ((error: Error) => void) | undefined;

  constructor(target: Target) {
    this.#target = target;
    this.#socket = this.#connect();
  }

  #connect(): Socket {
    const socket = connect(this.#target.port, "127.0.0.1");
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#read(chunk));
    socket.on("error", (error) => {
      if (socket === this.#socket) this.#failed?.(error);
    });
    socket.on("close", () => {
      if (socket !== this.#socket) return;
      this.#isClosed = true;
      this.#failed?.(new Error("the server closed a connection"));
    });
    return socket;
  }

  /** Encodes a request once, to send it often. */
  encode(path: string, body: string): Buffer {
    const { port, key } = this.#target;
    return Buffer.from(
      `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}${HEAD_END}${body}`,
    );
  }

  /** Resolves with the answer, and rejects unless it is a good one. */
  send(request: Buffer): Promise<void> {
    // Servers close a connection that was idle for some seconds, as during a slow turn.
    if (this.#isClosed || this.#socket.readableEnded) {
      this.#socket.destroy();
      this.#socket = this.#connect();
      this.#isClosed = false;
    }
    return new Promise((resolve, reject) => {
      this.#answered = resolve;
      this.#failed = reject;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#failed = undefined;
    this.#socket.destroy();
  }

  #read(chunk: Buffer): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    const headEnd = bytes.indexOf(HEAD_END);
    const head = headEnd < 0 ? "" : bytes.toString("latin1", 0, headEnd);
    const length = Number(LENGTH.exec(head)?.[1] ?? 0);
    if (headEnd < 0 || bytes.length < headEnd + HEAD_END.length + length) {
      this.#rest = bytes;
      return;
    }
    this.#rest = EMPTY;
    const failed = this.#failed;
    this.#failed = undefined;
    if (head.charAt("HTTP/1.1 ".length) === "2") this.#answered?.();
    else failed?.(new Error(bytes.toString()));
  }
}
