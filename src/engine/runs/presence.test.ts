/** Several servers need a database that they share, so this is told on PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { systemClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore, type Store } from "#base/store/index.ts";
import { RUNNER_PROTOCOL } from "#protocol/frames.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { createKernel, type Kernel } from "../kernel.ts";
import type { Principal } from "../principal.ts";

const owner: Principal = {
  kind: "user",
  orgId: "org_1",
  userId: "usr_1",
  name: "owner",
  role: "admin",
  scopes: ["*"],
  channel: "api",
};

describe.skipIf(!postgresUrl)("runners of a server that died", () => {
  let database: TestDatabase;
  const stores: Store[] = [];
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    await database.drop();
  });

  async function startServer(): Promise<Kernel> {
    const base = { clock: systemClock, log };
    const store = await openStore({ ...base, url: database.url, onSyncFailure: () => {} });
    stores.push(store);
    return createKernel({
      ...base,
      store,
      bus: createMemoryBus(log),
      ids: createIds(),
      features: [],
      defaults: {
        runtime: "echo",
        model: null,
        limits: { activePerUser: 10, activePerOrg: 10 },
      },
    });
  }

  async function connect(server: Kernel, bootId: string): Promise<string[]> {
    const answers: string[] = [];
    const connection = server.dispatcher.connect(
      { kind: "runner", orgId: "org_1", credentialId: "crd", scope: "org", tags: [], name: "a" },
      {
        send: (frame) => answers.push(frame.op === "refused" ? frame.code : frame.op),
        close: () => {},
        isAlive: async () => true,
      },
    );
    await connection.receive({
      op: "register",
      id: "1",
      protocol: RUNNER_PROTOCOL,
      bootId,
      profile: {
        name: "a",
        hostname: "a",
        folder: "/f",
        profile: "default",
        projectDir: null,
        tags: [],
        runtimes: ["echo"],
        capacity: 1,
        models: [],
        sandbox: null,
        version: "0",
      },
      holding: [],
    });
    return answers;
  }

  it("are marked offline by the others, and confirmed by their own while it lives", async () => {
    const [first, second] = [await startServer(), await startServer()];
    const state = async () => (await second.runners.list(owner)).items[0]?.state;
    expect(await connect(first, "boot_1")).toEqual(["registered"]);
    await second.sweeps.tick();
    expect(await state()).toBe("online");
    // As it would be when nobody had confirmed it for a while.
    await stores[0]?.transaction((tx) =>
      tx.execute({
        sql: "update runners set last_seen_at = last_seen_at - 60000",
        parameters: [],
      }),
    );
    expect(await connect(await startServer(), "boot_2")).toEqual(["registered"]);
    const third = await startServer();
    expect(await connect(third, "boot_3")).toEqual(["duplicate_runner"]);
    await stores[0]?.transaction((tx) =>
      tx.execute({
        sql: "update runners set last_seen_at = last_seen_at - 60000",
        parameters: [],
      }),
    );
    await third.sweeps.tick();
    expect(await state()).toBe("offline");
  });

  it("are shown again as soon as their server confirms them", async () => {
    const server = await startServer();
    const state = async () => (await server.runners.list(owner)).items[0]?.state;
    await connect(server, "boot_4");
    await stores[0]?.transaction((tx) =>
      tx.execute({ sql: "update runners set state = 'offline'", parameters: [] }),
    );
    await server.sweeps.tick();
    expect(await state()).toBe("online");
  });
});
