/** The faults that the simulation injects. */
import { LEASE_MS } from "#protocol/frames.ts";
import { admin } from "./clients/people.ts";
import type { RunnerHost } from "./runner/runner-host.ts";
import { ServerProcess } from "./server/server-process.ts";
import type { World } from "./world.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

export class Faults {
  readonly #world: World;
  readonly #reviving = new Set<RunnerHost>();

  constructor(world: World) {
    this.#world = world;
  }

  act(): void {
    const { random, odds } = this.#world;
    const { serverCrash, serverRestart, runnerCrash, partition, stall } = odds;
    const { clockJump, storeAway, drain, removeRunner } = odds;
    const acts = {
      serverCrash: () => this.#serverCrash(),
      serverRestart: () => this.#serverRestart(),
      runnerCrash: () => this.#runnerCrash(),
      partition: () => this.#partition(),
      stall: () => this.#stall(),
      clockJump: () => this.#clockJump(),
      storeAway: () => this.#storeAway(),
      drain: () => random.pick(this.#world.hosts).process?.drain(),
      removeRunner: () => this.#removeRunner(),
      nothing: () => undefined,
    };
    const weights = {
      serverCrash,
      serverRestart,
      runnerCrash,
      partition,
      stall,
      clockJump,
      storeAway,
      drain,
      removeRunner,
    };
    acts[random.weighted({ ...weights, nothing: 0.1 })]();
    this.revive();
  }

  /** Restarts stopped runners after a while. */
  revive(): void {
    const { random, scheduler, calm } = this.#world;
    for (const host of this.#world.hosts)
      if (!host.process?.isUp && (calm || !this.#reviving.has(host))) {
        this.#reviving.add(host);
        scheduler.after(calm ? 0 : random.skewed(100, 90 * SECOND), () => {
          this.#reviving.delete(host);
          host.boot();
        });
      }
  }

  async startServer(): Promise<void> {
    const world = this.#world;
    if (world.server?.isUp) return;
    world.server = await ServerProcess.start(world);
    world.oracle.graceUntil = Math.max(world.oracle.graceUntil, world.scheduler.now + LEASE_MS);
    world.note(`server starts as ${world.server.kernel.engine.serverId}`);
  }

  #serverCrash(): void {
    const { server, random, scheduler } = this.#world;
    if (!server.isUp) return;
    this.#world.note("server crashes");
    server.crash();
    scheduler.after(random.skewed(10, 20 * SECOND), () => this.startServer());
  }

  #serverRestart(): void {
    const { server, random, scheduler } = this.#world;
    if (!server.isUp) return;
    this.#world.note("server stops");
    server.kernel.stop().catch(() => undefined);
    scheduler.after(random.between(500, 5 * SECOND), () => {
      server.crash();
      return this.startServer();
    });
  }

  #runnerCrash(): void {
    const host = this.#world.random.pick(this.#world.hosts);
    if (!host.process?.isUp) return;
    this.#world.note(`runner ${host.process.bootId} crashes`);
    host.process.crash();
  }

  #partition(): void {
    const { random, hosts } = this.#world;
    const some: RunnerHost[] = random.chance(0.3) ? hosts : [random.pick(hosts)];
    for (const { process } of some) {
      if (!process?.wire) continue;
      this.#world.note(`the wire of ${process.bootId} is cut`);
      process.wire.cut();
    }
  }

  #stall(): void {
    const { random, hosts } = this.#world;
    const { process } = random.pick(hosts);
    if (!process?.wire) return;
    const forMs = random.between(SECOND, 40 * SECOND);
    this.#world.note(`the wire of ${process.bootId} stalls for ${forMs}`);
    process.wire.stall(forMs);
  }

  #clockJump(): void {
    const { random } = this.#world;
    const far = random.weighted({ seconds: 5, hours: 3, day: 0.6, week: 0.3 });
    const byMs = {
      week: 8 * 24 * HOUR,
      // Longer than any deadline for an answer.
      day: 25 * HOUR,
      hours: random.between(1, 5 * HOUR),
      seconds: random.between(1, 8 * SECOND),
    }[far];
    const isSmall = far === "hours" || far === "seconds";
    const signed = isSmall && random.chance(0.4) ? -byMs : byMs;
    this.#jumpBy(signed);
  }

  #jumpBy(byMs: number): void {
    const { clock, scheduler, oracle } = this.#world;
    this.#world.note(`the clock jumps by ${byMs}`);
    clock.jump(byMs);
    oracle.graceUntil = Math.max(oracle.graceUntil, scheduler.now + LEASE_MS);
  }

  #storeAway(): void {
    const { random, scheduler, oracle } = this.#world;
    const forMs = random.between(100, 8 * SECOND);
    this.#world.note(`the store is away for ${forMs}`);
    this.#world.storeAwayUntil = scheduler.now + forMs;
    oracle.graceUntil = Math.max(oracle.graceUntil, scheduler.now + forMs + LEASE_MS);
  }

  /**
   * Takes the whole machine away for longer than its leases, and perhaps longer than anyone waits
   * for it.
   */
  #takeAway(host: RunnerHost): void {
    const { random, scheduler, odds } = this.#world;
    if (!host.process?.isUp || this.#reviving.has(host)) return;
    host.process.crash();
    this.#reviving.add(host);
    scheduler.after(random.between(30 * SECOND, 90 * SECOND), () => {
      this.#reviving.delete(host);
      host.boot();
    });
    if (odds.clockJump === 0) return;
    scheduler.after(25 * SECOND, () => {
      if (!this.#world.calm) this.#jumpBy(HOUR);
    });
  }

  #removeRunner(): void {
    const { random, hosts, server } = this.#world;
    const host = random.pick(hosts);
    this.#world.note(`runner ${host.profile.name} is removed`);
    if (server.isUp) server.kernel.runners.remove(admin, host.runnerId).catch(() => undefined);
    if (random.chance(0.5)) this.#takeAway(host);
  }

  /** Stops all faults and repairs what is broken. */
  async mend(): Promise<void> {
    const world = this.#world;
    world.calm = true;
    world.storeAwayUntil = 0;
    // Delayed: a jump there and back between two readings of a clock cannot be noticed.
    world.scheduler.after(2 * SECOND, () => world.clock.catchUp());
    await this.startServer();
    for (const { process } of world.hosts) process?.wire?.heal();
    this.revive();
  }
}
