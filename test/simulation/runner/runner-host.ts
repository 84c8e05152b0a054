/**
 * A machine on which a runner is restarted again and again: its identity outlives its processes.
 */
import { runnerIdOf } from "#engine/runs/runners/runner-identity.ts";
import type { RunnerProfile } from "#protocol/frames.ts";
import type { World } from "../world.ts";
import { RunnerProcess } from "./runner-process.ts";

export class RunnerHost {
  readonly credentialId: string;
  readonly scope: string;
  readonly profile: RunnerProfile;
  readonly runnerId: string;
  /** False for the previous version, which does not confirm assignments. */
  readonly acknowledges: boolean;
  /** Sessions whose files are on this machine, as far as it knows. */
  readonly kept = new Set<string>();
  process: RunnerProcess | undefined;
  readonly #world: World;
  #boots = 0;

  constructor(world: World, name: string, scope: string, profile: Partial<RunnerProfile>) {
    this.#world = world;
    this.credentialId = `crd_${name}`;
    this.scope = scope;
    this.acknowledges = name !== "gamma";
    this.profile = {
      name,
      hostname: name,
      folder: `folder-of-${name}`,
      profile: "default",
      projectDir: null,
      tags: [],
      runtimes: ["native", "scripted"],
      readers: ["native"],
      capacity: 3,
      models: [],
      sandbox: null,
      version: "0.0.0",
      ...profile,
    };
    this.runnerId = runnerIdOf(this.credentialId, this.profile);
  }

  boot(): void {
    if (this.process?.isUp) return;
    this.#boots += 1;
    this.process = new RunnerProcess(this.#world, this, `${this.profile.name}-${this.#boots}`);
    this.#world.note(`runner ${this.process.bootId} starts`);
  }
}
