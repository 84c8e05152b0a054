/**
 * Runs one seed: creates a world, runs it, repairs it, puts it to sleep, wakes it, and checks it.
 */
import { silentLog } from "#base/log.ts";
import { openStore } from "#base/store/index.ts";
import { kernelMigrations } from "#engine/index.ts";
import { Random } from "#test/random.ts";
import { Clients } from "./clients/clients.ts";
import { Faults } from "./faults.ts";
import { checkAsleep, checkEnd, dump, findUnfinished } from "./final-checks.ts";
import { drawOdds } from "./odds.ts";
import { Oracle } from "./oracle/oracle.ts";
import { RunnerHost } from "./runner/runner-host.ts";
import { Scheduler, WallClock } from "./scheduler.ts";
import type { ServerProcess } from "./server/server-process.ts";
import { simMigration } from "./server/sim-feature.ts";
import { createSimIds } from "./server/sim-ids.ts";
import { Trace } from "./trace.ts";
import type { World } from "./world.ts";

/**
 * A session's requirements apply to its whole queue: without a fitting runner its prompts fail 5
 * minutes apart.
 */
const CALM_LIMIT_MS = 8 * 60 * 60_000;
const FINISH_EVERY_MS = 2_000;
/** Sweeps have found everything after this time and a few ticks. */
const SWEPT_WITHIN_MS = 61_000;
const FEW_TICKS_MS = 5_000;
/** Sessions that one round of the sweep puts to sleep. */
const ASLEEP_A_ROUND = 100;

export interface Result {
  seed: number;
  failure: Error | undefined;
  steps: number;
  hash: string;
  lastLines: string[];
  figures: Record<string, number>;
}

export interface SimulationOptions {
  seed: number;
  steps: number;
  echo: boolean;
}

export async function simulate({ seed, steps, echo }: SimulationOptions): Promise<Result> {
  const world = await createWorld(seed, echo);
  const clients = new Clients(world);
  const faults = new Faults(world);
  clients.drawTaste();
  let done = 0;
  let failure: Error | undefined;
  try {
    await faults.startServer();
    for (const host of world.hosts) host.boot();
    const act = () => {
      done += 1;
      world.oracle.checkLeases();
      if (world.random.chance(world.odds.faults)) faults.act();
      else clients.act();
      if (done < steps) world.scheduler.after(world.random.skewed(0, 4 * world.odds.stepMs), act);
    };
    world.scheduler.after(0, act);
    while (done < steps) await world.scheduler.step();
    await comeToRest(world, clients, faults);
    await sleepAndWake(world, clients, faults);
    await checkEnd(world, clients);
    for (const line of await dump(world)) world.trace.add(world.scheduler.now, line);
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error));
  }
  const lastLines = world.trace.last();
  const figures = figuresOf(world, clients);
  const hash = world.trace.digest();
  await world.real.close();
  return { seed, failure, steps: done, hash, lastLines, figures };
}

async function createWorld(seed: number, echo: boolean): Promise<World> {
  const random = new Random(seed);
  const scheduler = new Scheduler();
  const clock = new WallClock(scheduler);
  const trace = new Trace(echo);
  const real = await openStore({
    url: "sqlite::memory:",
    clock,
    log: silentLog,
    onSyncFailure: (error) => scheduler.fail(error),
  });
  await real.migrate([...kernelMigrations, simMigration]);
  const world: World = {
    seed,
    random,
    scheduler,
    clock,
    ids: createSimIds(clock.now, random),
    real,
    odds: drawOdds(random),
    trace,
    oracle: undefined as unknown as Oracle,
    server: undefined as unknown as ServerProcess,
    hosts: [],
    calm: false,
    storeAwayUntil: 0,
    storeIsAway: () => scheduler.now < world.storeAwayUntil,
    note: (line) => trace.add(scheduler.now, line),
  };
  world.oracle = new Oracle(world);
  world.hosts = [
    new RunnerHost(world, "alpha", "org", { capacity: 4 }),
    new RunnerHost(world, "beta", "org", { capacity: 2, tags: ["gpu"] }),
    new RunnerHost(world, "gamma", "org", { capacity: 3, runtimes: ["native"] }),
    new RunnerHost(world, "laptop", "user:usr_bob", { capacity: 1 }),
  ];
  return world;
}

async function comeToRest(world: World, clients: Clients, faults: Faults): Promise<void> {
  world.note("calm");
  await faults.mend();
  await rest(world, clients, faults);
}

/** Without activity everything falls asleep, and the next prompt wakes it. */
async function sleepAndWake(world: World, clients: Clients, faults: Faults): Promise<void> {
  world.clock.jump(world.odds.idleMs + SWEPT_WITHIN_MS);
  const awake = [...world.oracle.model.sessions.values()].filter(
    ({ lifecycle }) => lifecycle === "active",
  );
  const moreRounds = Math.floor(awake.length / ASLEEP_A_ROUND);
  const until = world.scheduler.now + FEW_TICKS_MS + moreRounds * SWEPT_WITHIN_MS;
  while (world.scheduler.now < until) await world.scheduler.step();
  checkAsleep(world);
  clients.wakeSome();
  await rest(world, clients, faults);
}

async function rest(world: World, clients: Clients, faults: Faults): Promise<void> {
  const until = world.scheduler.now + CALM_LIMIT_MS;
  let nextFinish = 0;
  for (;;) {
    await world.scheduler.step();
    if (world.scheduler.now < nextFinish) continue;
    nextFinish = world.scheduler.now + FINISH_EVERY_MS;
    const unfinished = await findUnfinished(world, clients);
    if (unfinished === undefined) return;
    if (world.scheduler.now > until) throw new Error(`no rest: ${unfinished}`);
    clients.finish();
    faults.revive();
  }
}

function figuresOf(world: World, clients: Clients): Record<string, number> {
  const { model, commits } = world.oracle;
  const outcomes: Record<string, number> = {};
  for (const { outcome } of model.prompts.values())
    outcomes[outcome ?? "none"] = (outcomes[outcome ?? "none"] ?? 0) + 1;
  const { answered, refused } = clients.requests;
  return {
    commits,
    sessions: model.sessions.size,
    prompts: model.prompts.size,
    runs: model.runs.size,
    gates: model.gates.size,
    decisions: model.told.size,
    effects: model.effects.size,
    ...model.seen,
    answered,
    refused,
    lines: world.trace.lines,
    ...outcomes,
  };
}
