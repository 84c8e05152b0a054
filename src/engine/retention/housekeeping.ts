/**
 * Housekeeping makes the database smaller. One step at a time, in this order: sessions whose time
 * is over, old rows of every retention rule, then free pages of the file. Each step is a short
 * transaction; other work runs between two of them.
 */
import type { Log } from "#base/log.ts";
import { createPurger, type Purger } from "../sessions/purge/purge.ts";
import { createPace, type Pace, timed } from "../timers/pace.ts";
import type { Engine } from "../work.ts";
import { archivedSessions } from "./kernel-retention.ts";
import {
  type RetentionRule,
  type RetentionSettings,
  readRetention,
  retentionCutoff,
} from "./retention.ts";
import { createTrustedTime } from "./trusted-time.ts";

/** Delay between two looks for work that is due. */
const LOOK_EVERY_MS = 60_000;
/** Delay before a failed step is tried again. */
const AGAIN_MS = 10_000;
/** Time limit of a look for due rows, which runs beside all other work. */
const LOOK_LIMIT_MS = 20_000;
/** Keys that are looked up at once. */
const MAX_KEYS = 100;
/** Steps of one round of tests and the simulation, which have no loop. */
const ROUND_STEPS = 200;

export interface HousekeepingOptions {
  engine: Engine;
  log: Log;
  /** Tables of features whose rows are removed together with their session. */
  sessionTables: readonly string[];
  rules: readonly RetentionRule[];
}

export class Housekeeping {
  readonly #engine: Engine;
  readonly #log: Log;
  readonly #rules: readonly RetentionRule[];
  readonly #purger: Purger;
  readonly #pace: Pace;
  readonly #shrinkPace: Pace;
  /** Time that decides which rows are old. */
  readonly #time: () => number;
  /** Time when a rule is looked at again, on a clock that nobody can set. */
  readonly #notBefore = new Map<string, number>();
  /** Rules with due rows, and the keys of those rows. */
  readonly #due = new Map<string, readonly string[]>();
  #settings: RetentionSettings = { days: new Map(), heldUntil: 0 };
  #settingsAt = Number.NEGATIVE_INFINITY;
  #noShrinkBefore = Number.NEGATIVE_INFINITY;

  constructor({ engine, log, sessionTables, rules }: HousekeepingOptions) {
    this.#engine = engine;
    this.#log = log;
    this.#time = createTrustedTime(engine.clock);
    this.#rules = rules.filter(({ prune }) => prune !== undefined);
    this.#purger = createPurger(engine, sessionTables);
    this.#pace = createPace(engine);
    this.#shrinkPace = createPace(engine);
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#engine;
    while (!signal.aborted) {
      const pause = await this.#attempt();
      if (!signal.aborted) await clock.sleep(pause, signal);
    }
  }

  /** Does due work, at most some hundred steps. */
  async round(): Promise<void> {
    for (let steps = 0; steps < ROUND_STEPS; steps++)
      if ((await this.#step()) === undefined) return;
  }

  async #attempt(): Promise<number> {
    try {
      return (await this.#step()) ?? LOOK_EVERY_MS;
    } catch (error) {
      this.#log.warn({ err: error }, "a step of housekeeping failed; it is tried again");
      return AGAIN_MS;
    }
  }

  /** Does one step. Returns the pause before the next; undefined when nothing is due. */
  async #step(): Promise<number | undefined> {
    const { clock } = this.#engine;
    const instant = clock.steady?.() ?? clock.now();
    if (instant - this.#settingsAt >= AGAIN_MS) {
      this.#settings = await readRetention(this.#engine);
      this.#settingsAt = instant;
    }
    return (await this.#purge()) ?? (await this.#prune(instant)) ?? (await this.#shrink(instant));
  }

  /** Continues half-removed sessions, also when archived ones are kept for good from now on. */
  #purge(): Promise<number | undefined> {
    return this.#purger.step((now) => this.#cutoff(archivedSessions, now) ?? 0);
  }

  /**
   * Instant before which rows of a kind are removed; null for none, as after a restore. `now` is
   * the database's time, which counts when its clock is behind this server's.
   */
  #cutoff(rule: RetentionRule, now = Number.POSITIVE_INFINITY): number | null {
    const { days, heldUntil } = this.#settings;
    const earlier = Math.min(now, this.#time());
    return earlier < heldUntil ? null : retentionCutoff(rule, days, earlier);
  }

  async #prune(instant: number): Promise<number | undefined> {
    for (const rule of this.#rules) {
      if (instant < (this.#notBefore.get(rule.kind) ?? instant)) continue;
      // Set before the step succeeds: one failing rule must not keep the others from their turn.
      this.#notBefore.set(rule.kind, instant + LOOK_EVERY_MS);
      const kept = this.#due.get(rule.kind);
      const keys = kept ?? (await this.#look(rule));
      if (!keys) continue;
      // A rule that failed, or is done, is looked at anew.
      this.#due.delete(rule.kind);
      let pruned = 0;
      const pause = await this.#pace.step((rows) =>
        timed(this.#engine, async (tx) => {
          const before = this.#cutoff(rule, tx.now) ?? 0;
          pruned = (await rule.prune?.(tx, before, rows, keys)) ?? 0;
        }),
      );
      if (pruned > 0) this.#due.set(rule.kind, keys);
      // With fresh keys another server is at work. Kept keys are used up: others are looked for next.
      else if (!kept) continue;
      this.#notBefore.delete(rule.kind);
      return pause;
    }
    return undefined;
  }

  /**
   * Looks for due rows of a rule beside other work, so that nobody waits for it; undefined for
   * none.
   */
  async #look(rule: RetentionRule): Promise<readonly string[] | undefined> {
    const before = this.#cutoff(rule);
    if (before === null) return undefined;
    return this.#engine.store.readAside(LOOK_LIMIT_MS, async (reader) => {
      const keys = await rule.findDue?.(reader, before, MAX_KEYS);
      const count = keys?.length ?? (await rule.countDue(reader, before, 1));
      return count === 0 ? undefined : (keys ?? []);
    });
  }

  /** Gives free pages of the file back to the disk, some at a time. PostgreSQL does it by itself. */
  async #shrink(instant: number): Promise<number | undefined> {
    if (this.#engine.store.dialect !== "sqlite" || instant < this.#noShrinkBefore) return undefined;
    let freed = 0;
    const pause = await this.#shrinkPace.step((pages) =>
      timed(this.#engine, async (tx) => {
        freed = (await tx.shrink?.(pages)) ?? 0;
      }),
    );
    if (freed > 0) return pause;
    this.#noShrinkBefore = instant + LOOK_EVERY_MS;
    return undefined;
  }
}
