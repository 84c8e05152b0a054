/**
 * Pings a socket and detects a silent peer: a stopped process, a sleeping machine or a pulled cable closes
 * nothing. A peer is quiet when it has missed a ping, and dead when nothing has come from it for eight.
 */
import type { WebSocket } from "ws";

const PING_EVERY_MS = 1_000;
/** Pings without a sign of life: one, with a margin for a busy machine. */
const QUIET_AFTER = 1.8;
const DEAD_AFTER = 8;
/** A timer that fires this many pings late means that this process itself was busy or stopped. */
const LATE = 1;

export interface PulseOptions {
  /** Called when nothing came for too long, before the socket is ended. */
  dead(): void;
  /** Called when a quiet peer sends something. */
  heardAgain(): void;
  pingEveryMs?: number;
}

export class SocketPulse {
  readonly #socket: WebSocket;
  readonly #options: PulseOptions;
  readonly #everyMs: number;
  readonly #timer: NodeJS.Timeout;
  #heardAt: number;
  #lookedAt: number;

  constructor(socket: WebSocket, options: PulseOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#everyMs = options.pingEveryMs ?? PING_EVERY_MS;
    this.#heardAt = performance.now();
    this.#lookedAt = this.#heardAt;
    for (const event of ["message", "ping", "pong"]) socket.on(event, () => this.#markAlive());
    this.#timer = setInterval(() => this.#checkPulse(), this.#everyMs);
    socket.once("close", () => clearInterval(this.#timer));
  }

  get isQuiet(): boolean {
    return performance.now() - this.#heardAt > QUIET_AFTER * this.#everyMs;
  }

  #markAlive(): void {
    const wasQuiet = this.isQuiet;
    this.#heardAt = performance.now();
    if (wasQuiet) this.#options.heardAgain();
  }

  #checkPulse(): void {
    const now = performance.now();
    const isLate = now - this.#lookedAt > (1 + LATE) * this.#everyMs;
    this.#lookedAt = now;
    // Messages of the peer are still unread: the silence is ours.
    if (isLate || this.#socket.isPaused) this.#heardAt = now;
    if (now - this.#heardAt > DEAD_AFTER * this.#everyMs) {
      this.#options.dead();
      this.#socket.terminate();
    } else if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }
}
