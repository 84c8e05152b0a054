/**
 * Places of a runner that one search for work may fill. Until the reservation is released, no other
 * search fills them.
 */

import type { RunnerRow } from "#engine/schema.ts";
import type { Engine } from "#engine/work.ts";
import type { Assignment } from "#protocol/frames.ts";
import { EXPIRY_MARGIN_MS, releaseRun } from "../leases/leases.ts";
import { capabilitiesOf } from "../runners/runner-capabilities.ts";
import type { TurnConfig } from "./assignment.ts";
import type { ClaimContext } from "./claim-run.ts";
import type { RunnerCapabilities } from "./fit.ts";

interface Holder {
  engine: Engine;
  connection: { readonly closed: boolean; assign(assignment: Assignment): void };
  /** Called once, when the places are free for others again. */
  end(): void;
}

export class Reservation implements ClaimContext {
  readonly runner: RunnerRow;
  readonly capabilities: RunnerCapabilities;
  readonly free: number;
  readonly config: TurnConfig;
  readonly readers: ReadonlySet<string>;
  readonly #holder: Holder;
  readonly #madeAt: number;
  readonly #late: Assignment[] = [];

  constructor(
    { runner, free, config, readers }: Omit<ClaimContext, "capabilities" | "assign">,
    holder: Holder,
  ) {
    this.runner = runner;
    this.capabilities = capabilitiesOf(runner);
    this.free = free;
    this.config = config;
    this.readers = readers;
    this.#holder = holder;
    this.#madeAt = this.#now();
  }

  assign(assignment: Assignment): void {
    // A runner counts its lease from the moment it gets the assignment; a late one would count too
    // far.
    const isFresh = this.#now() - this.#madeAt <= EXPIRY_MARGIN_MS;
    const { connection } = this.#holder;
    if (isFresh && !connection.closed) connection.assign(assignment);
    else this.#late.push(assignment);
  }

  /** Releases the places, and returns the runs that could not be assigned in time. */
  async release(): Promise<void> {
    const { engine, end } = this.#holder;
    try {
      for (const assignment of this.#late)
        await releaseRun(engine, this.runner.id, assignment, false);
    } finally {
      end();
    }
  }

  #now(): number {
    const { clock } = this.#holder.engine;
    return (clock.steady ?? clock.now)();
  }
}
