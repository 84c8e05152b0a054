/** One server process: everything it keeps in memory is gone when it dies. */
import { createKernel, type Kernel } from "#engine/index.ts";
import { createSimLog } from "../expected.ts";
import type { Wire } from "../runner/wire.ts";
import type { World } from "../world.ts";
import { createSimBus } from "./sim-bus.ts";
import { simFeature, simTools } from "./sim-feature.ts";
import { SimStore } from "./sim-store.ts";

export const LIMITS = { activePerUser: 10, activePerOrg: 200 };
export const DEFAULTS = { runtime: "native", model: null, limits: LIMITS };

export class ServerProcess {
  readonly kernel: Kernel;
  readonly wires = new Set<Wire>();
  /** Clients that wait for an answer from this process. */
  readonly waiting = new Set<() => void>();
  isUp = true;

  private constructor(kernel: Kernel) {
    this.kernel = kernel;
  }

  static async start(world: World): Promise<ServerProcess> {
    let isUp = true;
    const up = () => isUp;
    const kernel = await createKernel({
      store: new SimStore(world, up),
      bus: createSimBus(world, up),
      clock: world.clock,
      ids: world.ids,
      log: createSimLog(world.scheduler),
      defaults: DEFAULTS,
      features: [simFeature(world)],
      tools: simTools(world),
      idleMs: world.odds.idleMs,
    });
    const server = new ServerProcess(kernel);
    server.#die = () => {
      isUp = false;
    };
    kernel.start();
    return server;
  }

  #die: () => void = () => undefined;

  /** Like `kill -9`: nothing is finished, nobody is told. */
  crash(): void {
    this.isUp = false;
    this.#die();
    for (const wire of [...this.wires]) wire.serverGone();
    for (const giveUp of [...this.waiting]) giveUp();
    this.waiting.clear();
  }
}
