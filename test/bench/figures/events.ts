/**
 * Events: persisted per second, delivered per second to many sockets, and the bytes of one reply.
 */
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Contender } from "../contenders.ts";
import { atLeastRatio, atMost, type Figure, interleave, medianOf, type Row } from "../figure.ts";
import type { BenchTools } from "../tools.ts";

export const persisted: Figure = { name: "events", quick: false, measure: measurePersisted };
export const fannedOut: Figure = { name: "fanout", quick: true, measure: measureFanout };
export const bytes: Figure = { name: "bytes", quick: true, measure: measureBytes };

const says = (lines: number) =>
  Array.from({ length: lines }, (_, line) => `say this is line ${line} of what was to be said`);

const PERSIST_SESSIONS = 64;
const PERSIST_LINES = 100;

async function measurePersisted(tools: BenchTools): Promise<Row[]> {
  const content = says(PERSIST_LINES).join("\n");
  const prepare = async (contender: Contender) => {
    const target = { port: contender.port, key: contender.key };
    const count = PERSIST_SESSIONS;
    const job = { kind: "sessions", target, count, runtime: "scripted" } as const;
    const sessions = await tools.load.run(job);
    return async () => {
      const done = await tools.load.run({ kind: "turns", target, sessions, content, turnsEach: 1 });
      return (count * PERSIST_LINES * 1_000) / done.elapsedMs;
    };
  };
  const results = await interleave(tools.rounds(3), {
    ours: await prepare(await tools.ours()),
    floor: await prepare(await tools.floor()),
  });
  return [
    {
      figure: "entries persisted and shown/s, 64 sessions",
      unit: "/s",
      floor: medianOf(results.floor, (r) => r),
      ours: medianOf(results.ours, (r) => r),
    },
  ];
}

const FANOUT_SESSIONS = 16;

async function measureFanout(tools: BenchTools): Promise<Row[]> {
  const rows: Row[] = [];
  const ours = await tools.ours();
  for (const sockets of [100, 1_000]) {
    const timing = { warmMs: 700, forMs: tools.quick ? 1_000 : 2_000, sockets };
    let frameBytes = 300;
    const results = await interleave(tools.rounds(3), {
      ours: async () => {
        const target = { port: ours.port, key: ours.key };
        const job = {
          kind: "sessions",
          target,
          count: FANOUT_SESSIONS,
          runtime: "scripted",
        } as const;
        const sessions = await tools.load.run(job);
        const content = says(4_000).join("\n");
        const result = await tools.load.run({
          kind: "fanout",
          target,
          sessions,
          content,
          ...timing,
        });
        frameBytes = Math.round(result.bytesPerFrame);
        await stopAll(ours, sessions);
        return result.deliveriesPerSecond;
      },
      floor: () => broadcast(tools, timing, frameBytes),
    });
    rows.push({
      figure: `event deliveries/s to ${sockets} sockets`,
      unit: "/s",
      floor: medianOf(results.floor, (r) => r),
      ours: medianOf(results.ours, (r) => r),
      target: atLeastRatio(0.5),
      note: `frames of ${frameBytes} bytes`,
    });
  }
  return rows;
}

async function stopAll({ port, key }: Contender, sessions: string[]): Promise<void> {
  for (const id of sessions) {
    await fetch(`http://127.0.0.1:${port}/api/sessions/${id}/stop`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: "{}",
    });
  }
  await sleep(500);
}

async function broadcast(
  tools: BenchTools,
  timing: { sockets: number; warmMs: number; forMs: number },
  frameBytes: number,
): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const program = join(import.meta.dirname, "../floor-broadcast.ts");
  const child = spawn(process.execPath, [program, String(port)], { stdio: "inherit" });
  try {
    while (!(await canConnect(port))) await sleep(10);
    const job = { kind: "broadcast", port, frameBytes, ...timing } as const;
    return (await tools.load.run(job)).deliveriesPerSecond;
  } finally {
    child.kill("SIGKILL");
  }
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

async function measureBytes(tools: BenchTools): Promise<Row[]> {
  const contenders = { ours: await tools.ours(), floor: await tools.floor() };
  const rows: Row[] = [];
  for (const content of tools.quick ? ["stream 500 0"] : ["stream 500 0", "stream 500 20"]) {
    const view = async ({ port, key }: Contender) => {
      const target = { port, key };
      const job = { kind: "sessions", target, count: 1, runtime: "scripted" } as const;
      const [sessionId = ""] = await tools.load.run(job);
      return tools.load.run({ kind: "viewer", target, sessionId, content });
    };
    const ours = await view(contenders.ours);
    const floor = await view(contenders.floor);
    rows.push({
      figure: `bytes to one viewer, \`${content}\``,
      unit: "kB",
      floor: floor.bytes / 1_000,
      ours: ours.bytes / 1_000,
      target: atMost(42),
      note: `${ours.deltas} deltas, floor ${floor.deltas}`,
    });
  }
  return rows;
}
