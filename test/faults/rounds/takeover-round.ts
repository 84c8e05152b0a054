/**
 * Servers that die on PostgreSQL while 20 turns run and 20 wait, each with the runner it started. A
 * restarted server continues at once, another server takes over, and neither waits for a lease to
 * end; a frozen server is not taken for dead.
 */
import { randomBytes } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { SessionEvent } from "#protocol/events.ts";
import { Api } from "../clients/api.ts";
import { listPrompts, readSession } from "../clients/observe.ts";
import { createDatabase } from "../postgres/postgres-cluster.ts";
import { Stage } from "../program/stage.ts";
import type { FaultRound, RoundContext } from "../round.ts";

const SESSIONS = 20;
/** Longer than a whole strike, so that the turns are running when it comes. */
const SCRIPT = "sleep 9000\nsay done";
const LOOK_EVERY_MS = 50;
/** Far beyond the limit of a takeover: then something hangs. */
const GIVE_UP_MS = 60_000;
const FROZEN_MS = 5_000;

interface Loss {
  reason: string | null;
  at: number;
}

interface Strike {
  /** Returns the instant from which the takeover is timed. */
  play(first: Stage): Promise<number>;
  /** A second server on the same database, with its own runner. */
  hasSecond: boolean;
  /**
   * The reason each turn is lost; null: none may be. Never `lease_expired`: nobody waited for that.
   */
  lostBy: string | null;
}

const strikes: Record<string, Strike> = {
  "restarted on the same home": {
    lostBy: "runner_restarted",
    hasSecond: false,
    async play(first) {
      await first.killServer();
      await first.startBoth();
      return Date.now();
    },
  },
  "taken over by another server": {
    lostBy: "server_died",
    hasSecond: true,
    async play(first) {
      await first.killServer();
      return Date.now();
    },
  },
  "frozen and thawed": {
    lostBy: null,
    hasSecond: true,
    async play(first) {
      first.server.freeze();
      await sleep(FROZEN_MS);
      first.server.thaw();
      return Date.now();
    },
  },
};

export const takeover: FaultRound = {
  name: "postgres-takeover",
  async play(context) {
    const violations: string[] = [];
    const figures: string[] = [];
    for (const [name, strike] of Object.entries(strikes)) {
      const { problems, slowestMs } = await playStrike(context, strike);
      violations.push(...problems.map((problem) => `${name}: ${problem}`));
      figures.push(strike.lostBy ? `${name} after ${(slowestMs / 1_000).toFixed(1)} s` : name);
    }
    return {
      violations,
      summary: `${SESSIONS} running and ${SESSIONS} queued: ${figures.join(", ")}`,
    };
  },
};

async function playStrike({ cleanup, program }: RoundContext, strike: Strike) {
  const { url } = await createDatabase(cleanup);
  const env = {
    MUSTER_DATABASE_URL: url,
    MUSTER_SECRET_KEY: randomBytes(32).toString("hex"),
    MUSTER_LOG_LEVEL: "info",
  };
  const first = await Stage.create({ cleanup, program, env });
  await first.startBoth();
  const sessions = await beginTurns(new Api({ url: first.url, key: first.key }));
  // Started only now, so that all turns belong to the first one.
  const second = strike.hasSecond ? await Stage.create({ cleanup, program, env }) : undefined;
  if (second) copyFileSync(join(first.home, "owner.key"), join(second.home, "owner.key"));
  await second?.startBoth();
  const countedFrom = await strike.play(first);
  const { url: asked, key } = second ?? first;
  const api = new Api({ url: asked, key });
  const problems: string[] = [];
  const losses: Loss[] = [];
  for (const id of sessions) {
    problems.push(...(await awaitOutcomes(api, id)));
    losses.push(...(await readLosses(api, id)));
  }
  const slowestMs = Math.max(0, ...losses.map(({ at }) => at - countedFrom));
  problems.push(...judge(losses, strike.lostBy));
  const log = readFileSync(join(first.home, "server.log"), "utf8");
  if (log.includes("another connection of this runner is still open"))
    problems.push("the restarted runner was refused for the sake of a dead one");
  if (problems.length > 0) problems.push(first.logTail(), second?.logTail() ?? "");
  await Promise.all([first.killAll(), second?.killAll()]);
  return { problems, slowestMs };
}

/** Starts one running turn and one queued behind it, in each session. */
async function beginTurns(api: Api): Promise<string[]> {
  const sessions: string[] = [];
  for (let n = 0; n < SESSIONS; n++) {
    const { session } = await api.patient.sessions.create({ body: { runtime: "scripted" } });
    const { id } = session;
    for (const content of [SCRIPT, "say next"])
      await api.patient.prompts.create({ id, body: { content, mode: "followup" } });
    sessions.push(id);
  }
  const deadline = Date.now() + GIVE_UP_MS;
  for (const id of sessions)
    while ((await listPrompts(api, id, "running")).length === 0) {
      if (Date.now() > deadline) throw new Error("the turns did not begin");
      await sleep(LOOK_EVERY_MS);
    }
  return sessions;
}

async function awaitOutcomes(api: Api, id: string): Promise<string[]> {
  const deadline = Date.now() + GIVE_UP_MS;
  for (;;) {
    const prompts = await listPrompts(api, id);
    const isOver = prompts.length === 2 && prompts.every(({ state }) => state === "settled");
    if (isOver || Date.now() > deadline)
      return prompts
        .filter(({ outcome }) => outcome !== "completed")
        .map((prompt) => `${prompt.id} is ${prompt.state} ${prompt.outcome}`);
    await sleep(LOOK_EVERY_MS);
  }
}

async function readLosses(api: Api, id: string): Promise<Loss[]> {
  const { log } = await readSession(api, { id, runtime: "scripted" });
  return log
    .map(({ event }) => event)
    .filter((event: SessionEvent) => event.type === "run_lost")
    .map(({ reason, at }) => ({ reason: reason ?? null, at: Date.parse(at) }));
}

function judge(losses: readonly Loss[], lostBy: string | null): string[] {
  const wanted = lostBy === null ? 0 : SESSIONS;
  const others = losses.filter(({ reason }) => reason !== lostBy).map(({ reason }) => reason);
  return [
    ...(losses.length === wanted ? [] : [`${losses.length} turns were lost, not ${wanted}`]),
    ...(others.length === 0 ? [] : [`turns were lost by ${[...new Set(others)].join(", ")}`]),
  ];
}
