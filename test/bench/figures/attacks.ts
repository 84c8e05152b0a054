/**
 * Latency of a member's requests while another member floods the server, with default limits,
 * against the same requests without an attack.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ATTACKS, startAttack, type Target } from "#test/attacks/start-attack.ts";
import { Api } from "#test/faults/clients/api.ts";
import { joinAs } from "#test/faults/clients/join-as.ts";
import type { Contender } from "../contenders.ts";
import { atMost, type Figure, median, percentile, type Row } from "../figure.ts";
import { createHttpClient, type HttpClient } from "../load/http-client.ts";
import type { BenchTools } from "../tools.ts";

export const attacks: Figure = { name: "attacks", quick: false, measure };

const ROUNDS = 3;
const REQUESTS = 300;
const ENTRIES = 10_000;
const LINES_A_PROMPT = 500;
const LINE = `say ${"lorem ".repeat(80)}`;

interface World {
  ours: Contender;
  victim: HttpClient;
  session: string;
  target: Omit<Target, "kind">;
}

async function measure(tools: BenchTools): Promise<Row[]> {
  const world = await prepare(tools);
  const rows: Row[] = [];
  await work(world);
  for (const kind of ATTACKS) {
    const rounds: { alone: number; beside: number; grewMib: number }[] = [];
    for (let round = 0; round < tools.rounds(ROUNDS); round++) {
      const alone = await work(world);
      const before = world.ours.memory().rssMib;
      const attack = await startAttack({ ...world.target, kind });
      await sleep(500);
      const beside = await work(world);
      const grewMib = world.ours.memory().rssMib - before;
      await attack.stop();
      await sleep(1_000);
      rounds.push({ alone, beside, grewMib });
    }
    const ratio = median(rounds.map(({ alone, beside }) => beside / alone));
    const ms = (pick: "alone" | "beside") => rounds.map((one) => one[pick].toFixed(1)).join(", ");
    rows.push({
      figure: `p99 of a member's requests beside an attack by ${kind}`,
      unit: "×",
      ours: ratio,
      target: atMost(5),
      note: `${ms("beside")} ms, without ${ms("alone")} ms; memory grew by ${Math.round(Math.max(...rounds.map(({ grewMib }) => grewMib)))} MiB`,
    });
  }
  world.victim.close();
  return rows;
}

/** Sends requests one after the other, as a page does. Returns their p99 in milliseconds. */
async function work({ victim, session }: World): Promise<number> {
  const times: number[] = [];
  const time = async (act: () => Promise<unknown>) => {
    const from = performance.now();
    await act();
    times.push(performance.now() - from);
    // Stays within the default rate limit.
    await sleep(15);
  };
  for (let at = 0; at < REQUESTS / 3; at++) {
    await time(() => victim.get(`/api/sessions/${session}`));
    await time(() => victim.get("/api/search?q=hello"));
    await time(() => victim.post(`/api/sessions/${session}/prompts`, '{"content":"say hello"}'));
  }
  return percentile(times, 99);
}

async function prepare(tools: BenchTools): Promise<World> {
  const ours = await tools.ours({ runtime: "scripted", env: { MUSTER_RATE_LIMIT: "100" } });
  const url = `http://127.0.0.1:${ours.port}`;
  const owner = new Api({ url, key: ours.key });
  const scopes = ["sessions:read", "sessions:write", "runners"] as const;
  const attackerKey = await joinAs("ann", { owner, url, scopes });
  const victimKey = await joinAs("ben", { owner, url, scopes });
  const attacker = new Api({ url, key: attackerKey });
  const victim = createHttpClient({ port: ours.port, key: victimKey }, 4);
  const { session: own } = JSON.parse(await victim.post("/api/sessions", "{}"));
  const { id } = (await attacker.once.sessions.create()).session;
  const turns = { target: { port: ours.port, key: attackerKey }, sessions: [id] };
  const content = Array.from({ length: LINES_A_PROMPT }, () => LINE).join("\n");
  const turnsEach = ENTRIES / LINES_A_PROMPT;
  await tools.load.run({ kind: "turns", ...turns, content, turnsEach });
  const { token } = await attacker.once.runnerTokens.create({ body: { name: "own" } });
  return {
    ours,
    victim,
    session: own.id,
    target: {
      url,
      headers: { authorization: `Bearer ${attackerKey}` },
      session: id,
      runnerToken: token,
    },
  };
}
