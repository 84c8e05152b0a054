/**
 * The runner: keeps the connection to the server, works the runs it is assigned, renews their
 * leases, and leaves in an orderly way. It must never work on a run whose lease may have expired.
 */
import type { Clock } from "#base/clock.ts";
import type { Ids } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import type { Runtime } from "#execution/runtimes/runtime.ts";
import type { Assignment, RunnerProfile, ServerFrame } from "#protocol/frames.ts";
import { RENEW_EVERY_MS } from "#protocol/frames.ts";
import type { ToolDefinition } from "#protocol/tools.ts";
import { CoalescedTask } from "./coalesced-task.ts";
import { type RunRef, ServerLink } from "./connection/server-link.ts";
import { DiskWatch } from "./disk-watch.ts";
import { HeldRun } from "./held-run.ts";
import { DEFAULT_GRACES, type RunnerGraces, type RunnerOptions } from "./runner-options.ts";
import { SandboxWatch, type WatchedSandbox } from "./sandbox-watch.ts";
import { createSteadyClock } from "./steady-clock.ts";

const TICK_MS = 1000;
const TIDY_BATCH = 1000;
/** Work waits until the models are known, so they are asked for again soon. */
const MODELS_PAUSE_MAX_MS = 5_000;

export class Runner {
  readonly bootId: string;
  readonly #options: RunnerOptions;
  readonly #runtimes: Map<string, Runtime>;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #log: Log;
  readonly #graces: RunnerGraces;
  readonly #link: ServerLink;
  readonly #runs = new Map<string, HeldRun>();
  /** Runtimes that have not returned yet, including those of runs that are over. */
  readonly #atWork = new Set<Promise<void>>();
  readonly #renewals = new Map<string, { sentAt: number; runs: RunRef[] }>();
  readonly #started = Promise.withResolvers<void>();
  readonly #stopping = new AbortController();
  readonly #left = new AbortController();
  #ended: Promise<void> | null = null;
  #leaving: Promise<void> | null = null;
  #isDraining = false;
  /** The server's tools, from the registration. */
  #serverTools: readonly ToolDefinition[] = [];
  /** True if the server wants assignments to be acknowledged. */
  #confirms = false;
  /** Models found so far. */
  #models: RunnerProfile["models"];
  #isTicking = false;
  #renewAt = 0;
  #whenEmpty: (() => void) | null = null;
  readonly #tidying: CoalescedTask;
  readonly #refreshing: CoalescedTask;
  readonly #sandbox: SandboxWatch | undefined;
  readonly #disk: DiskWatch | undefined;
  readonly #lettingGo = new Map<string, Promise<void>>();
  /** Sessions to release when their turn is over. */
  readonly #tidyLater = new Set<string>();

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? createSteadyClock();
    this.#ids = options.ids;
    this.#log = options.log;
    this.#graces = { ...DEFAULT_GRACES, ...options.graces };
    this.#runtimes = new Map(options.runtimes.map((runtime) => [runtime.name, runtime]));
    this.bootId = options.ids.mint("rnr");
    this.#models = options.profile.models;
    this.#tidying = new CoalescedTask("tidy up", this.#clock, this.#left.signal, options.log);
    this.#refreshing = new CoalescedTask(
      "refresh the models",
      this.#clock,
      this.#left.signal,
      options.log,
      MODELS_PAUSE_MAX_MS,
    );
    this.#sandbox = options.sandbox && this.#watch(options.sandbox);
    this.#disk =
      options.disk &&
      new DiskWatch({
        disk: options.disk,
        clock: this.#clock,
        log: options.log,
        left: this.#left.signal,
        send: (report) => this.#link.request({ op: "disk", disk: report }),
      });
    this.#link = new ServerLink({
      transport: options.transport,
      clock: this.#clock,
      log: options.log,
      random: options.random ?? Math.random,
      bootId: this.bootId,
      profile: () => ({
        ...options.profile,
        models: this.#models,
        sandbox: options.sandbox?.report() ?? options.profile.sandbox,
        disk: options.disk?.report() ?? options.profile.disk,
        readers: readersAmong(options.runtimes),
      }),
      needsModels: options.models !== undefined,
      identity: options.prove?.(this.bootId),
      duplicatePatienceMs: this.#graces.duplicateMs,
      holding: () => this.#refs(),
      registered: (frame) => this.#onRegistered(frame),
      lost: (ref) => this.#onLost(ref.run, ref.fence),
      frame: (frame) => this.#onFrame(frame),
    });
  }

  #watch(sandbox: WatchedSandbox): SandboxWatch {
    return new SandboxWatch({
      sandbox,
      clock: this.#clock,
      log: this.#log,
      left: this.#left.signal,
      send: (report) => this.#link.request({ op: "sandbox", sandbox: report }),
    });
  }

  /** Resolves when the server has registered this runner; rejects when it refuses it for good. */
  start(): Promise<void> {
    this.#ended ??= this.#link
      .run()
      .finally(() => this.#abandonAll("The server has refused this runner."));
    this.#ended.catch((error: unknown) => this.#started.reject(error));
    return this.#started.promise;
  }

  /** Settles when the runner has left: rejects with the refusal if the server sent it away. */
  ended(): Promise<void> {
    return this.#ended ?? Promise.resolve();
  }

  /** Number of held runs. */
  get running(): number {
    return this.#runs.size;
  }

  /** Takes no more work, lets turns finish for a while, gives the rest back, and leaves. */
  drain(): Promise<void> {
    this.#leaving ??= this.#leave(this.#graces.drainMs);
    return this.#leaving;
  }

  /** Leaves now: gives back what it holds and kills what works on it. Shortens a drain under way. */
  stop(): Promise<void> {
    this.#stopping.abort();
    this.#leaving ??= this.#leave(0);
    return this.#leaving;
  }

  async #leave(graceMs: number): Promise<void> {
    this.#isDraining = true;
    this.#sendDrain();
    if (this.#runs.size > 0) {
      const empty = new Promise<void>((resolve) => {
        this.#whenEmpty = resolve;
      });
      await Promise.race([empty, this.#clock.sleep(graceMs, this.#stopping.signal)]);
    }
    const released = Promise.all([...this.#runs.values()].map((run) => run.giveBack()));
    await this.#atMost(this.#graces.releaseMs, released);
    this.#abandonAll("The runner has left.");
    this.#link.close();
    this.#left.abort();
    await this.#atMost(this.#graces.releaseMs, Promise.all(this.#atWork));
    await Promise.all([...this.#runtimes.values()].map((runtime) => runtime.close?.()));
    // A connection that is being opened may take long, and nothing depends on it any more.
    await this.#atMost(this.#graces.releaseMs, this.#ended?.catch(() => {}) ?? Promise.resolve());
    this.#started.resolve();
  }

  #sendDrain(): void {
    if (this.#link.isUp) this.#link.post({ op: "drain", id: this.#link.nextId() });
  }

  async #atMost(limitMs: number, work: Promise<unknown>): Promise<void> {
    const done = new AbortController();
    await Promise.race([work, this.#clock.sleep(limitMs, done.signal)]);
    done.abort();
  }

  #onRegistered({ lost, tools, wantsAccepted = false, unsandboxed = false }: Registered): void {
    this.#serverTools = tools;
    this.#confirms = wantsAccepted;
    this.#sandbox?.applyServerRecord({ unsandboxed });
    this.#disk?.start();
    for (const run of lost)
      this.#runs.get(run)?.abandon("The server has given the run to another runner.");
    this.#renewals.clear();
    if (this.#runs.size > 0) this.#renew();
    if (this.#isDraining) this.#sendDrain();
    this.#started.resolve();
    this.#tidy();
    this.#refreshModels();
  }

  #onFrame(frame: ServerFrame): void {
    switch (frame.op) {
      case "assign":
        this.#onAssign(frame.assignment);
        break;
      case "cancel": {
        const run = this.#runs.get(frame.run);
        if (run?.fence === frame.fence) run.cancel(frame.reason, frame.graceMs);
        break;
      }
      case "renewed":
        this.#onRenewed(frame.id, frame.lost);
        break;
      case "lost":
        this.#onLost(frame.run, frame.fence);
        break;
      case "tidy":
        this.#tidy();
        break;
      case "providers":
        this.#refreshModels();
        break;
      case "sandbox":
        this.#sandbox?.applyServerRecord(frame);
        break;
      default:
    }
  }

  #onAssign(assignment: Assignment): void {
    const { run, fence } = assignment;
    if (this.#isDraining) {
      void this.#link.request({ op: "release", run, fence, begun: false }).catch(() => {});
      return;
    }
    const held = this.#runs.get(run);
    if (held && held.fence >= fence) return;
    held?.abandon("The server has started another attempt.");
    const next = new HeldRun({
      assignment,
      tools: this.#serverTools,
      link: this.#link,
      clock: this.#clock,
      ids: this.#ids,
      log: this.#log,
      over: (over) => this.#onOver(over),
    });
    const now = this.#clock.now();
    // The assignment was in transit for longer than its lease, so the server gives it to another
    // runner.
    if (now >= next.expiresAt) {
      next.abandon("The assignment came too late.");
      return;
    }
    if (this.#confirms) this.#link.post({ op: "accepted", run, fence });
    this.#runs.set(run, next);
    this.#tick();
    // A slow assignment has little left of its lease.
    if (now - next.renewedAt > RENEW_EVERY_MS) this.#renew();
    next.work(this.#runtimes.get(assignment.runtime), this.#lettingGo.get(assignment.sessionId));
    const { released } = next;
    this.#atWork.add(released);
    void released.finally(() => this.#atWork.delete(released));
  }

  #onOver(run: HeldRun): void {
    if (this.#runs.get(run.run) === run) this.#runs.delete(run.run);
    if (this.#tidyLater.delete(run.assignment.sessionId)) this.#tidy();
    if (this.#runs.size === 0) this.#whenEmpty?.();
  }

  #onLost(run: string, fence: number | undefined): void {
    const held = this.#runs.get(run);
    if (held && (fence === undefined || held.fence === fence))
      held.abandon("The server has taken the run away.");
  }

  // Resources kept for sessions

  /**
   * Asks the server about the sessions that runtimes keep something for, and releases those that
   * rest or are gone.
   */
  #tidy(): void {
    const keepers = [...this.#runtimes.values()].filter((runtime) => runtime.heldSessions);
    if (keepers.length > 0)
      this.#tidying.request(async () => {
        for (const runtime of keepers) await this.#tidyOne(runtime);
      });
  }

  async #tidyOne(runtime: Runtime): Promise<void> {
    const sessions = runtime.heldSessions?.() ?? [];
    for (let from = 0; from < sessions.length; from += TIDY_BATCH) {
      const batch = sessions.slice(from, from + TIDY_BATCH);
      const answer = await this.#link.request({ op: "sessions", sessions: batch });
      if (answer.op !== "sessions") return;
      for (const id of answer.resting) await this.#releaseSession(runtime, id, false);
      for (const id of answer.gone) await this.#releaseSession(runtime, id, true);
    }
  }

  /**
   * Releases a session. A session at work is released after its turn; a turn that arrives meanwhile
   * waits.
   */
  async #releaseSession(runtime: Runtime, sessionId: string, isGone: boolean): Promise<void> {
    if (this.#isDraining || !runtime.releaseSession) return;
    if (this.#isAtWork(sessionId)) {
      this.#tidyLater.add(sessionId);
      return;
    }
    const letting = runtime.releaseSession(sessionId, isGone).catch((error: unknown) => {
      this.#log.warn({ err: error, sessionId }, "could not let go of a session");
    });
    this.#lettingGo.set(sessionId, letting);
    await letting;
    this.#lettingGo.delete(sessionId);
  }

  #isAtWork(sessionId: string): boolean {
    for (const { assignment } of this.#runs.values())
      if (assignment.sessionId === sessionId) return true;
    return false;
  }

  /**
   * Lists the models and reports them. The first report on a connection makes the server assign
   * work to this runner.
   */
  #refreshModels(): void {
    const { models } = this.#options;
    if (!models) return;
    this.#refreshing.request(async () => {
      this.#models = await models();
      await this.#link.request({ op: "models", models: this.#models });
    });
  }

  // Leases

  #onRenewed(id: string, lost: string[]): void {
    const renewal = this.#renewals.get(id);
    if (!renewal) return;
    this.#renewals.delete(id);
    for (const { run, fence } of renewal.runs) {
      if (lost.includes(run)) this.#onLost(run, fence);
      else if (this.#runs.get(run)?.fence === fence) this.#runs.get(run)?.renewed(renewal.sentAt);
    }
  }

  #renew(): void {
    const sentAt = this.#clock.now();
    const runs = this.#refs();
    const id = this.#link.nextId();
    this.#renewAt = sentAt + RENEW_EVERY_MS;
    this.#renewals.set(id, { sentAt, runs });
    if (!this.#link.post({ op: "renew", id, runs })) this.#renewals.delete(id);
  }

  /** Renews leases, abandons expired runs and resends deltas, as long as there are runs. */
  #tick(): void {
    if (this.#isTicking) return;
    this.#isTicking = true;
    this.#renewAt = this.#clock.now() + RENEW_EVERY_MS;
    void this.#tickWhileHolding().finally(() => {
      this.#isTicking = false;
    });
  }

  async #tickWhileHolding(): Promise<void> {
    while (this.#runs.size > 0) {
      await this.#clock.sleep(this.#untilNextTickMs(), this.#left.signal);
      const now = this.#clock.now();
      for (const run of this.#runs.values()) {
        if (now >= run.expiresAt) run.abandon("The lease could not be renewed in time.");
        else run.resendDeltas(now);
      }
      if (now >= this.#renewAt && this.#runs.size > 0) this.#renew();
    }
  }

  #untilNextTickMs(): number {
    let nextAt = Math.min(this.#clock.now() + TICK_MS, this.#renewAt);
    for (const run of this.#runs.values()) nextAt = Math.min(nextAt, run.expiresAt);
    return Math.max(0, nextAt - this.#clock.now());
  }

  #refs(): RunRef[] {
    return [...this.#runs.values()].map(({ run, fence }) => ({ run, fence }));
  }

  #abandonAll(why: string): void {
    for (const run of [...this.#runs.values()]) run.abandon(why);
  }
}

type Registered = Extract<ServerFrame, { op: "registered" }>;

function readersAmong(runtimes: readonly Runtime[]): string[] {
  return runtimes.flatMap(({ name, readsFirst = false }) => (readsFirst ? [name] : []));
}
