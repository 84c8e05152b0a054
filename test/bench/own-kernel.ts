/** A kernel with the measured features on a database file, for figures without HTTP. */
import { join } from "node:path";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { systemClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { createLog } from "#base/log.ts";
import { openStore, type Store } from "#base/store/index.ts";
import { createKernel, type Feature, type Kernel, type Principal } from "#engine/index.ts";

export const owner: Principal = {
  kind: "user",
  orgId: "org_1",
  userId: "usr_1",
  name: "owner",
  role: "admin",
  scopes: ["*"],
  channel: "api",
};

export async function openKernel(
  folder: string,
  features: readonly Feature[],
): Promise<{ store: Store; kernel: Kernel }> {
  const log = createLog({ level: "warn" });
  const store = await openStore({
    url: `sqlite:${join(folder, "muster.db")}`,
    clock: systemClock,
    log,
    onSyncFailure(error) {
      throw error;
    },
  });
  const kernel = await createKernel({
    store,
    bus: createMemoryBus(log),
    clock: systemClock,
    ids: createIds(),
    log,
    features,
    defaults: { runtime: "native", model: null, limits: { activePerUser: 10, activePerOrg: 10 } },
  });
  return { store, kernel };
}
