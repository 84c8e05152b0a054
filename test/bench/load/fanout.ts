/** Many sockets that follow the same sessions. */
import { setTimeout as sleep } from "node:timers/promises";
import { createHttpClient } from "./http-client.ts";
import type { FanoutResult, Job } from "./jobs.ts";
import { type Counts, type LiveSocket, openLiveSocket } from "./live-socket.ts";

type FanoutJob = Extract<Job, { kind: "fanout" }>;
type BroadcastJob = Extract<Job, { kind: "broadcast" }>;

const CONNECT_AT_ONCE = 50;

export async function fanout(job: FanoutJob | BroadcastJob): Promise<FanoutResult> {
  const counts: Counts = { frames: 0, bytes: 0 };
  const address =
    job.kind === "fanout"
      ? { ...job.target, path: "/api/live" }
      : { port: job.port, path: "/", key: "none" };
  const sockets = await openAll(address, job.sockets, counts);
  if (job.kind === "broadcast") sockets[0]?.send(String(job.frameBytes));
  else await startWork(job, sockets);
  await sleep(job.warmMs);
  const before = { ...counts };
  const startedAt = performance.now();
  await sleep(job.forMs);
  const seconds = (performance.now() - startedAt) / 1_000;
  const frames = counts.frames - before.frames;
  for (const socket of sockets) socket.close();
  return {
    deliveriesPerSecond: frames / seconds,
    bytesPerFrame: (counts.bytes - before.bytes) / Math.max(1, frames),
  };
}

async function openAll(
  address: { port: number; path: string; key: string },
  count: number,
  counts: Counts,
): Promise<LiveSocket[]> {
  const sockets: LiveSocket[] = [];
  while (sockets.length < count) {
    const some = Math.min(CONNECT_AT_ONCE, count - sockets.length);
    const opened = Array.from({ length: some }, () => openLiveSocket(address, counts));
    sockets.push(...(await Promise.all(opened)));
  }
  return sockets;
}

async function startWork(job: FanoutJob, sockets: readonly LiveSocket[]): Promise<void> {
  for (const socket of sockets)
    for (const id of job.sessions)
      socket.send(JSON.stringify({ op: "subscribe", topic: `session:${id}` }));
  const client = createHttpClient(job.target, job.sessions.length);
  const body = JSON.stringify({ content: job.content });
  await Promise.all(job.sessions.map((id) => client.post(`/api/sessions/${id}/prompts`, body)));
  client.close();
}

let stalled: LiveSocket[] = [];

export async function stall(job: Extract<Job, { kind: "stall" }>): Promise<Record<string, never>> {
  const address = { ...job.target, path: "/api/live" };
  stalled = await openAll(address, job.sockets, { frames: 0, bytes: 0 });
  for (const socket of stalled)
    socket.send(JSON.stringify({ op: "subscribe", topic: `session:${job.sessionId}` }));
  await sleep(200);
  for (const socket of stalled) socket.stall();
  return {};
}

export async function release(): Promise<Record<string, never>> {
  for (const socket of stalled) socket.close();
  stalled = [];
  return {};
}
