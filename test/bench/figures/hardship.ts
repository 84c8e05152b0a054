/** A kill in the middle of work, and readers that do not read. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Contender } from "../contenders.ts";
import { atLeast, atMost, type Figure, type Row } from "../figure.ts";
import { createHttpClient, type HttpClient } from "../load/http-client.ts";
import type { BenchTools } from "../tools.ts";

export const killed: Figure = { name: "kill", quick: true, measure: measureKill };
export const slowReaders: Figure = { name: "slow-readers", quick: false, measure: measureSlow };

const RUNNING = 20;
const SCRIPT = "say begun\nsleep 2000\nsay done";

interface Seen {
  resumedAt?: number;
  begun: number;
  settled: Map<string, number>;
}

interface WireEvent {
  type: string;
  at: string;
  promptId: string | null;
  role: string | null;
  data: { attempt?: number } | null;
  content: { text: string }[] | null;
}

async function measureKill(tools: BenchTools): Promise<Row[]> {
  const before = await tools.ours({ runtime: "scripted" });
  const { home } = before;
  const target = { port: before.port, key: before.key };
  const sessions = await tools.load.run({ kind: "sessions", target, count: RUNNING });
  const client = createHttpClient(before, RUNNING);
  const begun = sessions.map((id) => untilStarted(client, id));
  for (const content of [SCRIPT, "say queued"])
    for (const id of sessions)
      await client.post(`/api/sessions/${id}/prompts`, JSON.stringify({ content }));
  await Promise.all(begun);
  await before.kill();
  client.close();

  const after = await tools.ours({ home, runtime: "scripted" });
  const readyAt = Date.now();
  const seen = await Promise.all(sessions.map((id) => watchEnd(after, id, readyAt)));
  const resumed = seen.filter((one) => one.resumedAt !== undefined);
  const settled = seen.flatMap((one) => [...one.settled.values()]);
  const twice =
    settled.filter((times) => times > 1).length + seen.filter((one) => one.begun > 1).length;
  const lastMs = Math.max(...resumed.map((one) => (one.resumedAt as number) - readyAt));
  return [
    {
      figure: `resumed by themselves after SIGKILL, of ${RUNNING} running`,
      unit: "",
      ours: resumed.length,
      target: atLeast(RUNNING),
    },
    { figure: "… the last of them after ready", unit: "ms", ours: lastMs, target: atMost(2_000) },
    {
      figure: `… settled in the end, of ${2 * RUNNING}`,
      unit: "",
      ours: settled.length,
      target: atLeast(2 * RUNNING),
    },
    { figure: "… done or settled twice", unit: "", ours: twice, target: atMost(0) },
  ];
}

async function untilStarted(client: HttpClient, id: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const leave = await client.follow(`/api/sessions/${id}/events?after=0`, (type, block) => {
    if (type === "message" && block.includes('"role":"assistant"')) resolve();
  });
  await promise;
  leave();
}

const GIVE_UP_MS = 25_000;

/** Follows one session until both of its prompts are settled. */
async function watchEnd(contender: Contender, id: string, readyAt: number): Promise<Seen> {
  const client = createHttpClient(contender, 1);
  const seen: Seen = { begun: 0, settled: new Map() };
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const leave = await client.follow(`/api/sessions/${id}/events?after=0`, (type, block) => {
    if (type === "delta") return;
    const event = JSON.parse(block.slice(block.indexOf("data: ") + 6)) as WireEvent;
    note(seen, event);
    if (seen.settled.size === 2) resolve();
  });
  await Promise.race([done, sleep(readyAt + GIVE_UP_MS - Date.now())]);
  leave();
  client.close();
  return seen;
}

function note(seen: Seen, event: WireEvent): void {
  if (event.type === "run_claimed" && (event.data?.attempt ?? 1) > 1)
    seen.resumedAt ??= Date.parse(event.at);
  if (event.role === "assistant" && event.content?.[0]?.text === "begun") seen.begun++;
  if (event.type === "prompt_settled" && event.promptId !== null)
    seen.settled.set(event.promptId, (seen.settled.get(event.promptId) ?? 0) + 1);
}

const STALLED = 100;
const LINE_CHARS = 15_000;
const LINES = 4;
/** Each prompt is in the log twice: as it was queued, and as it entered the history. */
const PROMPTS = 850;

async function measureSlow(tools: BenchTools): Promise<Row[]> {
  const ours = await tools.ours({ runtime: "scripted" });
  const target = { port: ours.port, key: ours.key };
  const sessions = await tools.load.run({ kind: "sessions", target, count: 3 });
  const [warm = "", alone = "", watched = ""] = sessions;
  const line = `say ${"x".repeat(LINE_CHARS)}`;
  const content = Array.from({ length: LINES }, () => line).join("\n");
  const flood = (id: string) =>
    peakWhile(ours, () =>
      tools.load.run({ kind: "turns", target, sessions: [id], content, turnsEach: PROMPTS }),
    );
  await flood(warm);
  const without = await flood(alone);
  await tools.load.run({ kind: "stall", target, sockets: STALLED, sessionId: watched });
  const stalled = await flood(watched);
  await tools.load.run({ kind: "release" });
  const megabytes = Math.round((2 * PROMPTS * LINES * LINE_CHARS) / 1_000_000);
  return [
    {
      figure: `more memory for ${STALLED} stalled readers of ${megabytes} MB of events`,
      unit: "MiB",
      ours: stalled - without,
      target: atMost(64),
      note: `peak RSS ${Math.round(stalled)} MiB, without readers ${Math.round(without)} MiB`,
    },
  ];
}

async function peakWhile(contender: Contender, work: () => Promise<unknown>): Promise<number> {
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, contender.memory().rssMib);
  }, 50);
  await work();
  clearInterval(timer);
  return peak;
}
