/**
 * Figures without HTTP, in a process of its own: the store alone, and the time from a prompt to its
 * claim in the kernel; each with its bare counterpart. Prints one JSON object.
 *
 *   node store-load.ts (commit|commit-floor|claim|claim-floor) FOLDER MS
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { createMemoryBus } from "#base/bus/memory/memory-bus.ts";
import { systemClock } from "#base/clock.ts";
import { createIds } from "#base/ids.ts";
import { createLog } from "#base/log.ts";
import { inserter, openStore, type Store } from "#base/store/index.ts";
import { createChangeReporter, createKernel } from "#engine/index.ts";
import { createAuth } from "#features/auth/index.ts";
import { type Assignment, RUNNER_PROTOCOL } from "#protocol/frames.ts";
import { percentile } from "./figure.ts";

const WRITERS = 64;
const [what = "", folder = ".", forMs = "1000"] = process.argv.slice(2);
const until = () => performance.now() + Number(forMs);
const log = createLog({ level: "warn" });

function open(): Promise<Store> {
  const url = `sqlite:${join(folder, "muster.db")}`;
  const onSyncFailure = (error: unknown) => {
    throw error;
  };
  return openStore({ url, clock: systemClock, log, onSyncFailure });
}

const CONTENT = "a prompt of a usual length for a person, one line";
const table = "create table items (id text primary key, content text not null, at bigint not null)";
const insertItem = inserter<{ id: string; content: string; at: number }>("items", [
  "id",
  "content",
  "at",
]);

/** Transactions of one row from 64 writers. */
async function commit(): Promise<{ perSecond: number }> {
  const store = await open();
  await store.migrate([{ id: "0001", statements: () => [table] }]);
  const ids = createIds();
  let done = 0;
  const startedAt = performance.now();
  const end = until();
  const write = async () => {
    while (performance.now() < end) {
      const id = ids.mint("pmt");
      await store.transaction((tx) =>
        tx.execute(insertItem(tx.dialect, [{ id, content: CONTENT, at: tx.now }])),
      );
      done++;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  const perSecond = (done / (performance.now() - startedAt)) * 1_000;
  await store.close();
  return { perSecond };
}

function bareDatabase(): Database.Database {
  const db = new Database(join(folder, "floor.db"));
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  db.exec(table);
  return db;
}

function commitFloor(): { perSecond: number } {
  const db = bareDatabase();
  const insert = db.prepare("insert into items values (?, ?, ?)");
  const ids = createIds();
  let done = 0;
  const startedAt = performance.now();
  const end = until();
  while (performance.now() < end) {
    insert.run(ids.mint("pmt"), CONTENT, Date.now());
    done++;
  }
  return { perSecond: (done / (performance.now() - startedAt)) * 1_000 };
}

/** From the call that admits a prompt to the frame that assigns it, both synced. */
async function claim(): Promise<{ p50Ms: number }> {
  const store = await open();
  const ids = createIds();
  const kernel = await createKernel({
    store,
    bus: createMemoryBus(log),
    clock: systemClock,
    ids,
    log,
    features: [],
    defaults: {
      runtime: "echo",
      model: null,
      limits: { activePerUser: 1_000_000, activePerOrg: 1_000_000 },
    },
  });
  const tell = createChangeReporter(() => kernel.engine);
  const auth = createAuth({ store, ids, clock: systemClock, tell });
  const owner = await auth.authenticate((await auth.ensureOwner("bench")).key ?? "");
  if (owner?.principal.kind !== "user") throw new Error("no owner");
  const { token } = await auth.createServerToken(owner.principal.orgId, "bench");
  const runner = await auth.authenticate(token);
  if (runner?.principal.kind !== "runner") throw new Error("no runner");

  let assigned = (_: Assignment) => {};
  const connection = kernel.dispatcher.connect(runner.principal, {
    send(frame) {
      if (frame.op === "assign") assigned(frame.assignment);
    },
    close: () => {},
    isAlive: async () => true,
  });
  const profile = {
    name: "bench",
    hostname: "bench",
    folder,
    profile: "default",
    projectDir: null,
    tags: [],
    runtimes: ["echo"],
    capacity: 64,
    models: [],
    sandbox: null,
    version: "0",
  };
  await connection.receive({
    op: "register",
    id: "1",
    protocol: RUNNER_PROTOCOL,
    bootId: ids.mint("rnr"),
    profile,
    holding: [],
  });
  const session = await kernel.sessions.create(owner.principal, {});
  const times: number[] = [];
  const end = until();
  while (performance.now() < end) {
    const claimed = new Promise<Assignment>((resolve) => {
      assigned = resolve;
    });
    const sentAt = performance.now();
    const prompt = { content: CONTENT, thread: "main", attachments: [] };
    await kernel.prompts.admit(owner.principal, session.id, prompt);
    const { run, fence } = await claimed;
    times.push(performance.now() - sentAt);
    const settle = { outcome: "completed" as const };
    await connection.receive({
      op: "journal",
      id: "2",
      run,
      fence,
      firstOrdinal: 1,
      items: [],
      settle,
    });
  }
  return { p50Ms: percentile(times, 50) };
}

function claimFloor(): { p50Ms: number } {
  const db = bareDatabase();
  const insert = db.prepare("insert into items values (?, ?, ?)");
  const update = db.prepare("update items set at = 0 where id = ?");
  const ids = createIds();
  const times: number[] = [];
  const end = until();
  while (performance.now() < end) {
    const sentAt = performance.now();
    const id = ids.mint("pmt");
    insert.run(id, CONTENT, Date.now());
    update.run(id);
    times.push(performance.now() - sentAt);
  }
  return { p50Ms: percentile(times, 50) };
}

mkdirSync(folder, { recursive: true });
const parts = { commit, "commit-floor": commitFloor, claim, "claim-floor": claimFloor };
const result = await parts[what as keyof typeof parts]();
process.stdout.write(JSON.stringify(result));
process.exit(0);
