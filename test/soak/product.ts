/** Starts the product as its users do, with people, sessions and the clients that use them. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { joinAs } from "#test/faults/clients/join-as.ts";
import { ModelLine } from "#test/faults/program/model-line.ts";
import { Stage } from "#test/faults/program/stage.ts";
import type { Random } from "#test/faults/random.ts";
import type { Cleanup } from "#test/services/servers/cleanup.ts";
import { Database } from "./database.ts";
import { createDelegations } from "./load/delegations.ts";
import { Ledger } from "./load/ledger.ts";
import { createLongSession } from "./load/long-sessions.ts";
import { createMessages } from "./load/messages.ts";
import { startPersonalRunner } from "./load/personal-runner.ts";
import { createProbe } from "./load/probe.ts";
import { createReader } from "./load/readers.ts";
import { SessionAger } from "./load/session-ager.ts";
import type { Person } from "./load/sessions.ts";
import { createShortSessions } from "./load/short-sessions.ts";
import {
  createReturningReader,
  createSocketReader,
  createStalledSocket,
  createStalledStream,
} from "./load/subscribers.ts";
import { createTasks } from "./load/tasks.ts";
import type { Worker } from "./load/worker.ts";
import type { Product } from "./measure.ts";

const NODE_OPTIONS = fileURLToPath(new URL("../../scripts/node-options.json", import.meta.url));
const LONG_SESSIONS = 3;
const SCOPES = [
  "sessions:read",
  "sessions:write",
  "tasks",
  "mail",
  "approvals",
  "runners",
] as const;
const QUIET = { asked: () => {}, answered: () => {} };

export interface Soak {
  product: Product;
  ledger: Ledger;
  workers: Worker[];
  ager: SessionAger;
  /** Last lines that the processes wrote. */
  logTail(): string;
  close(): Promise<void>;
}

export async function startSoak(cleanup: Cleanup, program: string, random: Random): Promise<Soak> {
  const line = await ModelLine.open(QUIET);
  const nodeOptions = JSON.parse(readFileSync(NODE_OPTIONS, "utf8")) as string[];
  const stage = await Stage.create({ cleanup, program, nodeOptions, env: line.env });
  const temporary = join(stage.home, "tmp");
  mkdirSync(temporary);
  // One session after the other sleeps and wakes; the default log level is measured.
  Object.assign(stage.env, {
    TMPDIR: temporary,
    MUSTER_IDLE_MINUTES: "1",
    MUSTER_LOG_LEVEL: "info",
  });
  await stage.startBoth();
  const { url, key, home } = stage;
  const ledger = new Ledger();
  const owner: Person = { api: ledger.api(url, key), ledger };
  const addMember = async (name: string): Promise<Person & { key: string }> => {
    const own = await joinAs(name, { owner: owner.api, url, scopes: SCOPES });
    return { api: ledger.api(url, own), ledger, key: own };
  };
  const [ann, bob] = [await addMember("ann"), await addMember("bob")];
  const runner = await startPersonalRunner(bob, stage);
  const database = new Database(home);
  const ager = new SessionAger(database);

  const lead = await createDelegations(owner, line);
  const probe = await createProbe(owner, { url, key, modelUrl: line.url });
  const long = [];
  for (let n = 0; n < LONG_SESSIONS; n++)
    long.push(await createLongSession(ann, String(n), random.fork()));
  const [first, ...others] = long.map(({ id }) => id) as [string, ...string[]];
  const door = { api: ann.api, url, key: ann.key, random: random.fork() };
  const busy = { ...door, sessionIds: [first, ...others] as [string, ...string[]] };
  const workers = [
    ...probe.workers,
    ...long.map(({ worker }) => worker),
    lead.worker,
    createShortSessions(ann, "of ann", random.fork()),
    createShortSessions(bob, "of bob", random.fork()),
    createMessages(ann, "bob", random.fork()),
    createMessages(bob, "ann", random.fork()),
    createTasks(owner, lead.id),
    createReader(owner, random.fork()),
    createReader(ann, random.fork()),
    createSocketReader(busy),
    createStalledSocket(busy),
    createStalledStream(busy),
    createReturningReader(ann, busy),
    runner.worker,
    ager.worker,
  ];
  const product = {
    url,
    key,
    home,
    temporary,
    serverPid: stage.server.pid,
    secondRunnerPid: runner.process.pid,
    database,
  };
  return {
    product,
    ledger,
    workers,
    ager,
    logTail: () => stage.logTail(),
    async close() {
      probe.close();
      database.close();
      await stage.killAll();
      runner.close();
      await line.close();
    },
  };
}
