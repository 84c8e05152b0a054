/**
 * Pings a socket and notices when its peer falls silent: a stopped process, a sleeping machine or a
 * pulled cable closes nothing. A peer is `quiet` when it has missed a ping, and given up when nothing
 * has come from it for `deadAfterMs`.
 */
import type { WebSocket } from "ws";
import { type Clock, systemClock } from "#base/clock.ts";

const PING_EVERY_MS = 1_000;
/** A ping and some air for a busy machine. */
const QUIET_AFTER_MS = 1_800;
const DEAD_AFTER_MS = 8_000;
/** A look at the clock that comes this late means that this process was busy or stopped itself. */
const LATE_MS = 1_000;

export interface PulseOptions {
  /** Nothing came for too long; the socket is ended after this. */
  dead(): void;
  /** Something came from a peer that was quiet. */
  heardAgain(): void;
  clock?: Pick<Clock, "now" | "steady">;
}

export class SocketPulse {
  readonly #socket: WebSocket;
  readonly #options: PulseOptions;
  readonly #instant: () => number;
  readonly #timer: NodeJS.Timeout;
  #heardAt: number;
  #lookedAt: number;

  constructor(socket: WebSocket, options: PulseOptions) {
    const { clock = systemClock } = options;
    this.#socket = socket;
    this.#options = options;
    this.#instant = clock.steady ?? clock.now;
    this.#heardAt = this.#instant();
    this.#lookedAt = this.#heardAt;
    for (const event of ["message", "ping", "pong"]) socket.on(event, () => this.#hear());
    this.#timer = setInterval(() => this.#look(), PING_EVERY_MS);
    socket.once("close", () => clearInterval(this.#timer));
  }

  get isQuiet(): boolean {
    return this.#instant() - this.#heardAt > QUIET_AFTER_MS;
  }

  #hear(): void {
    const wasQuiet = this.isQuiet;
    this.#heardAt = this.#instant();
    if (wasQuiet) this.#options.heardAgain();
  }

  #look(): void {
    const now = this.#instant();
    const isLate = now - this.#lookedAt > PING_EVERY_MS + LATE_MS;
    this.#lookedAt = now;
    // What the peer sent meanwhile has not been read yet: it is not its fault.
    if (isLate) this.#heardAt = now;
    if (now - this.#heardAt > DEAD_AFTER_MS) {
      this.#options.dead();
      this.#socket.terminate();
    } else if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }
}
