/**
 * The runner's connection to its server: opens it, registers, and reconnects when it breaks.
 *
 * States: connecting → registering → up → (closed by the peer) connecting … → ended. It ends when
 * it is closed here, or when the server refuses this runner for good. Requests survive a broken
 * connection: unanswered ones are sent again, in order, as soon as the server has registered the
 * runner again; the server recognises requests that it has already handled.
 */
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import { LeaseLost } from "#execution/runtimes/runtime.ts";
import {
  RUNNER_PROTOCOL,
  type RunnerFrame,
  type RunnerProfile,
  type ServerFrame,
} from "#protocol/frames.ts";
import type { Connection, Transport } from "./transport.ts";

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 2000;
const REGISTER_TIMEOUT_MS = 5000;
const BUSY_RETRY_MS = 250;
/** Refusals that say "not now": the same frame may succeed a moment later. */
const PASSING_CODES = new Set([
  "unavailable",
  "store_unavailable",
  "rate_limited",
  "too_many_requests",
  "server_stopping",
]);

export interface RunRef {
  run: string;
  fence: number;
}

export interface ServerLinkOptions {
  transport: Transport;
  clock: Clock;
  log: Log;
  random: () => number;
  bootId: string;
  /** The current profile: the models may have changed since the last connection. */
  profile(): RunnerProfile;
  /** True when the runner must find out its models before it can be given work. */
  needsModels: boolean;
  /** Proves which machine this is. */
  identity?: Extract<RunnerFrame, { op: "register" }>["identity"];
  /** Time to keep trying when the server says that this runner is connected already. */
  duplicatePatienceMs: number;
  holding(): RunRef[];
  /**
   * Called when the server has registered the runner. The frame lists the held runs that are lost.
   */
  registered(frame: Registered): void;
  /** Called when the server says that this runner does not hold a run any more. */
  lost(ref: RunRef): void;
  /** Called for frames that answer no request. */
  frame(frame: ServerFrame): void;
}

type RequestFrame = Extract<
  RunnerFrame,
  {
    op:
      | "journal"
      | "tool"
      | "history"
      | "brief"
      | "repository"
      | "blob"
      | "fetch_blob"
      | "disk"
      | "sessions"
      | "models"
      | "sandbox"
      | "release"
      | "drain";
  }
>;
type Registered = Extract<ServerFrame, { op: "registered" }>;
/** Argument of `request`, which adds the id. */
export type FrameWithoutId = RequestFrame extends infer F
  ? F extends RequestFrame
    ? Omit<F, "id">
    : never
  : never;

interface PendingRequest {
  frame: RequestFrame;
  resolve(answer: ServerFrame): void;
  reject(error: Error): void;
}

type ConnectionEnd = { kind: "lost" } | { kind: "refused"; refusal: Refusal };

export class ServerLink {
  readonly #options: ServerLinkOptions;
  readonly #pending = new Map<string, PendingRequest>();
  readonly #closing = new AbortController();
  #connection: Connection | null = null;
  #isUp = false;
  #lastId = 0;
  #duplicateSince: number | null = null;

  constructor(options: ServerLinkOptions) {
    this.#options = options;
  }

  /**
   * Keeps the connection up. Resolves when it was closed here; rejects with the refusal that ended
   * it.
   */
  async run(): Promise<void> {
    let failures = 0;
    while (!this.#closing.signal.aborted) {
      const before = this.#options.clock.now();
      const end = await this.#connectOnce();
      if (end.kind === "refused") this.#judgeRefusal(end.refusal);
      // A connection that lasted for a while was a good one: pauses start short again.
      failures = this.#options.clock.now() - before > MAX_RETRY_MS ? 0 : failures;
      await this.#options.clock.sleep(this.#pauseMs(failures++), this.#closing.signal);
    }
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** See `Connection.provenAt`. */
  provenAt(): number {
    return this.#connection?.provenAt?.() ?? this.#options.clock.now();
  }

  nextId(): string {
    this.#lastId++;
    return String(this.#lastId);
  }

  /** Sends a frame that nobody waits for; false when it was skipped. */
  post(frame: RunnerFrame): boolean {
    if (!this.#isUp || !this.#connection || (frame.op === "delta" && this.#connection.congested))
      return false;
    this.#connection.send(frame);
    return true;
  }

  /** Sends a frame until it is answered. Rejects with `LeaseLost` or the server's `Refusal`. */
  request(unnumbered: FrameWithoutId): Promise<ServerFrame> {
    const frame = { ...unnumbered, id: this.nextId() } as RequestFrame;
    return new Promise((resolve, reject) => {
      this.#pending.set(frame.id, { frame, resolve, reject });
      this.post(frame);
    });
  }

  /** Rejects every request of a run that is gone. */
  forget({ run, fence }: RunRef, reason: LeaseLost): void {
    for (const [id, { frame, reject }] of this.#pending) {
      if (!("run" in frame) || frame.run !== run || frame.fence !== fence) continue;
      this.#pending.delete(id);
      reject(reason);
    }
  }

  close(): void {
    this.#closing.abort();
    this.#connection?.close();
    const gone = new LeaseLost("The runner has left.");
    for (const { reject } of this.#pending.values()) reject(gone);
    this.#pending.clear();
  }

  async #connectOnce(): Promise<ConnectionEnd> {
    const { log, transport } = this.#options;
    const ended = Promise.withResolvers<ConnectionEnd>();
    let registerId = "";
    let isOver = false;
    const onFrame = (frame: ServerFrame): void => {
      if (isOver) return;
      if (this.#isUp) {
        this.#dispatch(frame);
      } else if (frame.op === "registered" && frame.id === registerId) {
        this.#becomeUp(frame);
      } else if (frame.op === "refused" && frame.id === registerId) {
        ended.resolve({
          kind: "refused",
          refusal: new Refusal("conflict", frame.code, frame.message),
        });
      }
    };
    try {
      this.#connection = await transport.open({
        frame: onFrame,
        closed: (reason) => {
          if (isOver) return;
          isOver = true;
          if (this.#isUp && !this.#closing.signal.aborted)
            log.warn({ reason }, "lost the server, reconnecting");
          this.#isUp = false;
          ended.resolve({ kind: "lost" });
        },
      });
    } catch (error) {
      if (error instanceof Refusal) return { kind: "refused", refusal: error };
      log.debug({ err: error }, "the server cannot be reached, trying again");
      return { kind: "lost" };
    }
    registerId = this.nextId();
    if (this.#closing.signal.aborted) this.#connection.close();
    else this.#register(registerId);
    this.#expectRegistration(ended.promise);
    const end = await ended.promise;
    isOver = true;
    this.#isUp = false;
    this.#connection.close();
    this.#connection = null;
    return end;
  }

  #register(id: string): void {
    const { bootId, profile, identity, holding, needsModels } = this.#options;
    this.#connection?.send({
      op: "register",
      id,
      protocol: RUNNER_PROTOCOL,
      bootId,
      profile: profile(),
      ...(identity ? { identity } : {}),
      holding: holding(),
      ready: !needsModels,
      acknowledges: true,
    });
  }

  /** Closes a connection whose server does not answer the registration in time. */
  #expectRegistration(ended: Promise<ConnectionEnd>): void {
    const connection = this.#connection;
    const answered = new AbortController();
    void ended.then(() => answered.abort());
    void this.#options.clock.sleep(REGISTER_TIMEOUT_MS, answered.signal).then(() => {
      if (this.#connection === connection && !this.#isUp) connection?.close();
    });
  }

  #becomeUp(frame: Registered): void {
    this.#isUp = true;
    this.#duplicateSince = null;
    const unanswered = [...this.#pending.keys()];
    this.#options.registered(frame);
    for (const id of unanswered) {
      const pending = this.#pending.get(id);
      if (pending) this.post(pending.frame);
    }
  }

  #dispatch(frame: ServerFrame): void {
    const id = "id" in frame ? frame.id : null;
    const pending = id === null ? undefined : this.#pending.get(id);
    if (!pending || id === null) {
      // A late "lost" answers a request of an earlier fence: it says nothing about the run now.
      if (frame.op !== "lost" || id === null) this.#options.frame(frame);
      return;
    }
    if (frame.op === "refused" && PASSING_CODES.has(frame.code)) {
      this.#sendAgainLater(id);
      return;
    }
    this.#pending.delete(id);
    if (frame.op === "lost") {
      pending.reject(new LeaseLost(`The run no longer belongs to this runner (${frame.code}).`));
      if ("fence" in pending.frame) this.#options.lost(pending.frame);
    } else if (frame.op === "refused") {
      pending.reject(new Refusal("invalid", frame.code, frame.message));
    } else {
      pending.resolve(frame);
    }
  }

  #sendAgainLater(id: string): void {
    void this.#options.clock.sleep(BUSY_RETRY_MS, this.#closing.signal).then(() => {
      const pending = this.#pending.get(id);
      if (pending) this.post(pending.frame);
    });
  }

  /** Returns if another attempt is worthwhile; throws the refusal otherwise. */
  #judgeRefusal(refusal: Refusal): void {
    const { clock, log, duplicatePatienceMs } = this.#options;
    if (PASSING_CODES.has(refusal.code)) return;
    if (refusal.code !== "duplicate_runner") throw refusal;
    // The server may not have noticed yet that an earlier connection of ours is dead.
    this.#duplicateSince ??= clock.now();
    if (clock.now() - this.#duplicateSince > duplicatePatienceMs) throw refusal;
    log.info({}, "another connection of this runner is still open, trying again");
  }

  #pauseMs(failures: number): number {
    const ceilingMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
    return ceilingMs * (0.5 + this.#options.random() / 2);
  }
}
