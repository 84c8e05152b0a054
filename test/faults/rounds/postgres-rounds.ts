/** PostgreSQL killed under the program, the program killed on PostgreSQL, and two servers at once. */
import { randomBytes } from "node:crypto";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { check } from "../checker.ts";
import { Load } from "../clients/load.ts";
import { observe } from "../clients/observe.ts";
import { createDatabase } from "../postgres/postgres-cluster.ts";
import { Stage } from "../program/stage.ts";
import { type FaultRound, type RoundContext, Tally } from "../round.ts";
import { playKills, victims } from "./kill-rounds.ts";
import { lostCommit } from "./lost-commit-round.ts";
import { takeover } from "./takeover-round.ts";

const STRETCH = 25;
const RACE_MS_PER_CYCLE = 300;

const databaseKilled: FaultRound = {
  name: "postgres",
  async play({ cleanup, program, cycles, random }) {
    const { server, url } = await createDatabase(cleanup);
    const stage = await Stage.create({ cleanup, program, env: { MUSTER_DATABASE_URL: url } });
    await stage.startServer();
    await stage.startRunner();
    const tally = new Tally();
    const kills = Math.ceil(cycles / 4);
    for (let struck = 0; struck < kills && tally.violations.length === 0; ) {
      const load = new Load({
        urls: [stage.url],
        key: stage.key,
        random: random.fork(),
        sessions: 12,
        pauseMs: [0, 20],
      });
      await load.start();
      for (let n = 0; n < STRETCH && struck < kills; n++, struck++) {
        await sleep(random.between(500, 2_500));
        await server.kill();
        await sleep(random.between(0, 300));
        await server.start();
      }
      await sleep(500);
      tally.add(check(load.history, await observe(load), { mayExhaust: false }));
    }
    if (tally.violations.length > 0) tally.violations.push(stage.logTail());
    await stage.killAll();
    return { violations: tally.violations, summary: `${kills} kills of PostgreSQL: ${tally}` };
  },
};

const programKilled: FaultRound[] = (["server", "runner"] as const).map((name) => ({
  name: `postgres-${name}`,
  async play(context) {
    const { url } = await createDatabase(context.cleanup);
    const cycles = Math.ceil(context.cycles / 4);
    return playKills({ ...context, cycles }, victims[name], { MUSTER_DATABASE_URL: url });
  },
}));

/** Two servers with a runner each take turns at the same sessions. */
const races: FaultRound = {
  name: "postgres-races",
  async play(context) {
    const { random, cycles } = context;
    const [first, second] = await startPair(context);
    const load = new Load({
      urls: [first.url, second.url],
      key: first.key,
      random: random.fork(),
      sessions: 12,
      pauseMs: [0, 10],
    });
    await load.start();
    await sleep(Math.max(2_000, cycles * RACE_MS_PER_CYCLE));
    const tally = new Tally();
    tally.add(check(load.history, await observe(load), { mayExhaust: false }));
    if (tally.violations.length > 0) tally.violations.push(first.logTail(), second.logTail());
    await Promise.all([first.killAll(), second.killAll()]);
    return { violations: tally.violations, summary: `two servers: ${tally}` };
  },
};

async function startPair({ cleanup, program }: RoundContext): Promise<[Stage, Stage]> {
  const { url } = await createDatabase(cleanup);
  const env = { MUSTER_DATABASE_URL: url, MUSTER_SECRET_KEY: randomBytes(32).toString("hex") };
  const first = await Stage.create({ cleanup, program, env });
  const second = await Stage.create({ cleanup, program, env });
  await first.startServer();
  copyFileSync(join(first.home, "owner.key"), join(second.home, "owner.key"));
  await second.startServer();
  await first.startRunner();
  await second.startRunner();
  return [first, second];
}

export const postgresRounds: FaultRound[] = [
  lostCommit,
  databaseKilled,
  ...programKilled,
  races,
  takeover,
];
