/** Several servers need a database that they share, so this is tested on PostgreSQL. */
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { systemClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { silentLog as log } from "#base/log.ts";
import { openStore, type Store } from "#base/store/index.ts";
import { livenessKey } from "#base/store/postgres/liveness.ts";
import { createKernel, type Kernel } from "#engine/kernel.ts";
import type { Principal } from "#engine/requests/principal.ts";
import { RUNNER_PROTOCOL } from "#protocol/frames.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";

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

  /**
   * Starts a server. `canLock: false` simulates PostgreSQL without a connection left for its lock,
   * while the pool has its own.
   */
  async function startServer({ canLock = true } = {}): Promise<Kernel> {
    const base = { clock: systemClock, log };
    const store = await openStore({ ...base, url: database.url, onSyncFailure: () => {} });
    stores.push(store);
    if (!canLock) Object.assign(store, { showLiveness: undefined });
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

  async function connect(server: Kernel, bootId: string, fields: object = {}): Promise<string[]> {
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
        ...fields,
      },
      holding: [],
    });
    return answers;
  }

  /** Simulates a killed process: PostgreSQL sees its connections close. */
  async function kill(server: Kernel): Promise<void> {
    await server.engine.store.close();
    stores.splice(stores.indexOf(server.engine.store), 1);
  }

  /** Starts a session whose turn the runner of the first server holds. */
  async function beginTurn(server: Kernel): Promise<string> {
    const { id } = await server.sessions.create(owner, {});
    const request = { content: "go", thread: "main", attachments: [] };
    await server.prompts.admit(owner, id, request);
    await expect.poll(() => eventsOf(server, id)).toContain("run_claimed");
    return id;
  }

  const eventsOf = async (server: Kernel, id: string) =>
    (await server.sessions.events(id, 0, 1_000)).map(({ type }) => type as string);

  const lossesOf = async (server: Kernel, id: string) =>
    (await server.sessions.events(id, 0, 1_000)).filter(({ type }) => type === "run_lost");

  it("are marked offline by the others, and confirmed by their own while it lives", async () => {
    const [first, second] = [await startServer(), await startServer()];
    const state = async () => (await second.runners.list(owner)).items[0]?.state;
    expect(await connect(first, "boot_1")).toEqual(["registered"]);
    await second.sweeps.tick();
    expect(await state()).toBe("online");
    // Simulates a time without confirmations.
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

  it("come back to another at once, though it confirmed them a moment ago", async () => {
    const [first, second] = [await startServer(), await startServer()];
    const profile = { folder: "/killed" };
    expect(await connect(first, "boot_5", profile)).toEqual(["registered"]);
    expect(await connect(second, "boot_6", profile)).toEqual(["duplicate_runner"]);
    await kill(first);
    await expect
      .poll(() => connect(second, "boot_6", profile), { interval: 20 })
      .toEqual(["registered"]);
  });

  it("that ended with it lose their turns long before their leases end", async () => {
    const [first, second] = [await startServer(), await startServer()];
    await connect(first, "boot_7", { folder: "/child", endsWithServer: true });
    const child = await beginTurn(first);
    await connect(first, "boot_8", { folder: "/elsewhere", endsWithServer: false });
    const elsewhere = await beginTurn(first);
    await second.sweeps.tick();
    await kill(first);
    await expect
      .poll(
        async () => {
          await second.sweeps.tick();
          return (await lossesOf(second, child)).map(({ reason }) => reason);
        },
        { interval: 200 },
      )
      .toEqual(["server_died"]);
    // A runner that works on without its server keeps its runs until their leases have ended.
    expect(await lossesOf(second, elsewhere)).toEqual([]);
    const run = await second.engine.store.read((reader) =>
      reader.query<{ state: string; lease_until: number }>({
        sql: `select state, lease_until from runs where session_id = '${elsewhere}'`,
        parameters: [],
      }),
    );
    expect(run).toMatchObject([{ state: "claimed" }]);
    expect(run[0]?.lease_until).toBeGreaterThan(Date.now());
  });

  it("keep their turns while it lives, also when its lock was taken from it for a moment", async () => {
    const [first, second] = [await startServer(), await startServer()];
    await connect(first, "boot_9", { folder: "/alive", endsWithServer: true, capacity: 8 });
    const id = await beginTurn(first);
    const lockHolders = () =>
      second.engine.store.read((reader) =>
        reader.query<{ pid: number }>({
          sql: "select pid from pg_stat_activity where application_name = 'muster liveness' and datname = current_database()",
          parameters: [],
        }),
      );
    const before = await lockHolders();
    await second.engine.store.read((reader) =>
      reader.query({
        sql: `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'muster liveness' and datname = current_database()`,
        parameters: [],
      }),
    );
    // All runners come back, on connections of their own.
    await expect
      .poll(async () => {
        const now = (await lockHolders()).filter(
          ({ pid }) => !before.some((old) => old.pid === pid),
        );
        return now.length;
      })
      .toBe(before.length);
    for (let n = 0; n < 8; n++) {
      await second.sweeps.tick();
      await systemClock.sleep(500);
    }
    expect(await lossesOf(second, id)).toEqual([]);
    expect(await connect(second, "boot_10", { folder: "/alive" })).toEqual(["duplicate_runner"]);
  });

  describe("whose lock is held by a connection that was lost without a word", () => {
    const KEY = "7474748";
    /** Takes a server's lock on another connection, and keeps it as a ghost would. */
    async function takeLock(server: Kernel): Promise<Client> {
      const ghost = new Client({ connectionString: database.url });
      await ghost.connect();
      const key = livenessKey(server.engine.serverId);
      const taken = ghost.query(`select pg_advisory_lock(${KEY}, ${key})`);
      await expect
        .poll(async () => {
          await ghostFree(server, key);
          return Promise.race([taken.then(() => true), systemClock.sleep(50)]);
        })
        .toBe(true);
      return ghost;
    }
    /** Ends the connection that holds the lock. */
    const ghostFree = (server: Kernel, key: number) =>
      server.engine.store.read((reader) =>
        reader.query({
          sql: `select pg_terminate_backend(a.pid) from pg_stat_activity a join pg_locks l on l.pid = a.pid
            where a.application_name = 'muster liveness' and a.datname = current_database()
              and l.locktype = 'advisory' and l.granted and l.classid = ${KEY} and l.objid = ${key}`,
          parameters: [],
        }),
      );
    const countConnections = async (server: Kernel) => {
      const [row] = await server.engine.store.read((reader) =>
        reader.query<{ n: number }>({
          sql: "select count(*) as n from pg_stat_activity where application_name = 'muster liveness' and datname = current_database()",
          parameters: [],
        }),
      );
      return Number(row?.n);
    };

    it("tries again on one connection, and holds it when it is free", async () => {
      const server = await startServer();
      const before = await countConnections(server);
      const ghost = await takeLock(server);
      for (let n = 0; n < 25; n++) {
        await systemClock.sleep(200);
        expect(await countConnections(server)).toBeLessThanOrEqual(before);
      }
      await ghost.end();
      const key = livenessKey(server.engine.serverId);
      await expect
        .poll(() =>
          server.engine.store.read((reader) =>
            reader.query({
              sql: `select 1 as held from pg_locks l join pg_stat_activity a on a.pid = l.pid
                where l.classid = ${KEY} and l.objid = ${key} and l.granted and a.application_name = 'muster liveness'`,
              parameters: [],
            }),
          ),
        )
        .toEqual([{ held: 1 }]);
    });
  });

  it("keep their turns while it confirms them, also when it cannot get its lock back", async () => {
    const first = await startServer({ canLock: false });
    const second = await startServer();
    await connect(first, "boot_11", { folder: "/lockless", endsWithServer: true, capacity: 8 });
    const id = await beginTurn(first);
    for (let n = 0; n < 16; n++) {
      await first.sweeps.tick();
      await second.sweeps.tick();
      await systemClock.sleep(500);
    }
    expect(await lossesOf(second, id)).toEqual([]);
    await kill(first);
    await expect
      .poll(
        async () => {
          await second.sweeps.tick();
          return (await lossesOf(second, id)).map(({ reason }) => reason);
        },
        { interval: 200 },
      )
      .toEqual(["server_died"]);
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
