/** The consequences of a lost attempt, derived from the wires and independently of the engine. */
import type { World } from "../world.ts";
import type { RunModel } from "./model.ts";

const MAX_STRIKES = 3;
const MAX_BLAMELESS = 40;

type Blame = "prompt" | "machine" | "none";

export class Losses {
  /** Attempts (run and fence) that were sent to a confirming runner and not confirmed. */
  readonly #unconfirmed = new Set<string>();
  readonly #silentBoots = new Set<string>();
  /** Attempts taken from a revoked runner that may not know it yet. */
  readonly #revoked = new Set<string>();
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Records that an assignment left the server. */
  sent(run: string, fence: number, isConfirmed: boolean): void {
    if (isConfirmed) this.#unconfirmed.add(`${run}#${fence}`);
  }

  /** Records that a frame about it came back from the runner that got it. */
  confirmed(run: string, fence: number): void {
    this.#unconfirmed.delete(`${run}#${fence}`);
  }

  fellSilent(bootId: string): void {
    this.#silentBoots.add(bootId);
  }

  cameBack(bootId: string): void {
    this.#silentBoots.delete(bootId);
  }

  mayStillBelieve(run: string, fence: number): boolean {
    return this.#revoked.has(`${run}#${fence}`);
  }

  /** Counts a lost attempt; true when the prompt must be given up. */
  count(run: RunModel, boot: string, reason: string | null): boolean {
    if (reason === "runner_revoked") this.#revoked.add(`${run.id}#${run.fence}`);
    const blame = this.#blame(run, boot, reason);
    const progressed = run.journaled > 0;
    if (progressed) Object.assign(run, { strikes: 0, blameless: 0 });
    if (blame === "none" || (blame === "machine" && progressed)) return false;
    if (blame === "machine") {
      run.blameless += 1;
      return run.blameless >= MAX_BLAMELESS;
    }
    run.strikes += 1;
    run.blameless = 0;
    return run.strikes >= MAX_STRIKES;
  }

  #blame(run: RunModel, boot: string, reason: string | null): Blame {
    if (reason === "released") return "none";
    const isServerGone = run.serverBoot !== this.#world.server.kernel.engine.serverId;
    if (reason === "runner_revoked" || isServerGone) return "machine";
    const { seen } = this.#world.oracle.model;
    const isUnaccepted = this.#unconfirmed.has(`${run.id}#${run.fence}`);
    const isSilent = this.#silentBoots.has(boot);
    if (isUnaccepted) seen.unaccepted += 1;
    if (isSilent) seen.silent += 1;
    return isUnaccepted || isSilent ? "machine" : "prompt";
  }
}
