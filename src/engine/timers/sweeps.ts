/**
 * Work by the clock: due timers, deliveries, expired leases, things too old. Every sweep is a
 * backup or a batch, safe to run on every server at once; the next one tries again what failed.
 */
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import { LEASE_MS } from "#protocol/frames.ts";
import type { Deliverer, Sweep, TimerHandler } from "../feature.ts";
import { deliverDue } from "../outbox/index.ts";
import type { Housekeeping } from "../retention/housekeeping.ts";
import { failUnmatched, NO_MATCH_AFTER_MS } from "../runs/claims/unmatched.ts";
import { endOverdueStops, expireLeases } from "../runs/leases/leases.ts";
import { notifyMachinesGone } from "../runs/leases/machines-gone.ts";
import { fallAsleep, wakeHeld } from "../sessions/lifecycle/fall-asleep.ts";
import { announceGrowth } from "../sessions/log/growth.ts";
import type { Engine } from "../work.ts";
import { runDueTimers } from "./timers.ts";

const TICK_MS = 500;
/** Longest delay until a reader sees what another server wrote, when the bus does not report it. */
const GROWTH_EVERY_MS = 1_000;
const SLOW_EVERY_MS = 60_000;
const MISSING_EVERY_MS = 10_000;
/** Rounds of deliveries that may be under way at once. */
const MAX_DELIVERY_ROUNDS = 10;
/** A tick that comes this late means that the machine was asleep or overwhelmed. */
const LATE_MS = 5_000;
/** Difference from a steady clock that shows that the wall clock was moved. */
const JUMP_MS = 250;

export interface SweepOptions {
  engine: Engine;
  clock: Clock;
  log: Log;
  timers: Readonly<Record<string, TimerHandler>>;
  deliverers: Readonly<Record<string, Deliverer>>;
  featureSweeps: readonly Sweep[];
  housekeeping: Housekeeping;
  /** Idle time after which a session hibernates. */
  idleMs: number;
  /** Looks for runs whose hint was lost, or whose pause is over. */
  sweepRunners: () => Promise<void>;
}

export class Sweeps {
  readonly #options: SweepOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #housekeeping: Promise<void> | undefined;
  #noExpiryBefore = 0;
  /** Runners that could take a run must have had the time to connect. */
  #noUnmatchedBefore = 0;
  readonly #deliveries = new Set<Promise<void>>();
  #lastLook = 0;
  #drift = 0;
  #lastSlow = 0;
  #lastMissing = 0;
  #lastGrowth = 0;
  #lastHeld = "";
  readonly #lastSweeps = new Map<Sweep, number>();

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  start(): void {
    const now = this.#options.clock.now();
    this.#lastLook = now;
    this.#drift = this.#driftAt(now);
    // Runners need the time of one lease to come back after a server start.
    this.#noExpiryBefore = now + LEASE_MS;
    this.#noUnmatchedBefore = now + NO_MATCH_AFTER_MS;
    this.#running = this.#loop();
    this.#housekeeping = this.#options.housekeeping.run(this.#stop.signal);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#housekeeping;
    await Promise.all(this.#deliveries);
  }

  /** Runs one round; also called by tests and the simulation. */
  async tick(): Promise<void> {
    const { engine, clock, timers, deliverers, sweepRunners } = this.#options;
    const now = clock.now();
    await this.#attempt("timers", () => runDueTimers(engine, timers, now));
    this.#deliver(() => deliverDue(engine, deliverers, now));
    if (this.#mayExpire()) {
      const mayExpire = () => this.#mayExpire();
      await this.#attempt("leases", () => expireLeases(engine, now, mayExpire));
      await this.#attempt("overdue stops", () => endOverdueStops(engine, now, mayExpire));
    }
    await this.#lookForMissingRunners(now);
    if (now - this.#lastGrowth >= GROWTH_EVERY_MS) {
      this.#lastGrowth = now;
      await this.#attempt("growth", () => announceGrowth(engine));
    }
    if (now - this.#lastSlow >= SLOW_EVERY_MS) {
      this.#lastSlow = now;
      // A started server has a loop for housekeeping, so that leases and timers never wait for it.
      if (!this.#housekeeping)
        await this.#attempt("housekeeping", () => this.#options.housekeeping.round());
      await this.#attempt("asleep", () => fallAsleep(engine, now, this.#options.idleMs));
      await this.#attempt("held asleep", () => this.#wakeHeld());
    }
    await this.#sweepFeatures(now);
    await this.#attempt("runners", sweepRunners);
  }

  async #wakeHeld(): Promise<void> {
    this.#lastHeld = await wakeHeld(this.#options.engine, this.#lastHeld);
  }

  /** Handles runs that no runner can take, and runs whose machine with their files is gone. */
  async #lookForMissingRunners(now: number): Promise<void> {
    const { engine } = this.#options;
    const isDue = now - this.#lastMissing >= MISSING_EVERY_MS;
    if (!isDue || now < this.#noUnmatchedBefore) return;
    this.#lastMissing = now;
    await this.#attempt("unmatched", () => failUnmatched(engine, now));
    await this.#attempt("machines gone", () => notifyMachinesGone(engine, now));
  }

  async #sweepFeatures(now: number): Promise<void> {
    for (const sweep of this.#options.featureSweeps) {
      if (now - (this.#lastSweeps.get(sweep) ?? 0) < sweep.everyMs) continue;
      this.#lastSweeps.set(sweep, now);
      await this.#attempt(sweep.name, () => sweep.run(this.#options.engine, now));
    }
  }

  /** Delivers without waiting: a delivery that hangs must not hold up leases and timers. */
  #deliver(sweep: () => Promise<unknown>): void {
    if (this.#deliveries.size >= MAX_DELIVERY_ROUNDS) return;
    const round = this.#attempt("outbox", sweep).finally(() => this.#deliveries.delete(round));
    this.#deliveries.add(round);
  }

  #mayExpire(): boolean {
    const now = this.#options.clock.now();
    this.#noticeJump(now);
    return now >= this.#noExpiryBefore;
  }

  #noticeJump(now: number): void {
    const elapsed = now - this.#lastLook;
    const drift = this.#driftAt(now);
    const isMoved = elapsed < 0 || Math.abs(drift - this.#drift) > JUMP_MS;
    if (isMoved) this.#drift = drift;
    if (isMoved || elapsed > TICK_MS + LATE_MS) {
      this.#noExpiryBefore = now + LEASE_MS;
      this.#noUnmatchedBefore = now + NO_MATCH_AFTER_MS;
    }
    this.#lastLook = now;
  }

  /** Drift over all ticks, not from one to the next, so that small moves add up. */
  #driftAt(now: number): number {
    return now - (this.#options.clock.steady?.() ?? now);
  }

  async #loop(): Promise<void> {
    const { clock } = this.#options;
    while (!this.#stop.signal.aborted) {
      await this.tick();
      await clock.sleep(TICK_MS, this.#stop.signal);
    }
  }

  async #attempt(name: string, sweep: () => Promise<unknown>): Promise<void> {
    try {
      await sweep();
    } catch (error) {
      if (!this.#stop.signal.aborted)
        this.#options.log.warn({ err: error, sweep: name }, "a sweep failed; it will run again");
    }
  }
}
