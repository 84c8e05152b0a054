/** Turns in a closed loop: each session has a watcher and one prompt in progress. */
import { setTimeout as sleep } from "node:timers/promises";
import { percentile } from "../figure.ts";
import { createHttpClient, type HttpClient } from "./http-client.ts";
import type { Job, JobResults, TurnResult } from "./jobs.ts";
import { RawClient } from "./raw-client.ts";

interface Watched {
  sentAt: number;
  sawDelta: boolean;
  settled: () => void;
}

export async function runTurns(job: Extract<Job, { kind: "turns" }>): Promise<TurnResult> {
  const client = createHttpClient(job.target, job.sessions.length);
  const body = JSON.stringify({ content: job.content });
  const firstDelta: number[] = [];
  const settled: number[] = [];
  const watched = await Promise.all(
    job.sessions.map((session) => follow(client, session, firstDelta, settled)),
  );
  const startedAt = performance.now();
  const until = startedAt + (job.forMs ?? Number.POSITIVE_INFINITY);
  const limit = job.turnsEach ?? Number.POSITIVE_INFINITY;
  await inTurn(job.sessions, job.atOnce, async (session, index) => {
    const { state } = watched[index] as Follower;
    const sender = new RawClient(job.target);
    const request = sender.encode(`/api/sessions/${session}/prompts`, body);
    for (let turn = 0; turn < limit && performance.now() < until; turn++) {
      const done = new Promise<void>((resolve) => {
        state.settled = resolve;
      });
      state.sawDelta = false;
      state.sentAt = performance.now();
      await sender.send(request);
      await done;
      if (job.pauseMs !== undefined) await sleep(job.pauseMs);
    }
    sender.close();
  });
  const elapsedMs = performance.now() - startedAt;
  for (const { leave } of watched) leave();
  client.close();
  return {
    turns: settled.length,
    elapsedMs,
    firstDeltaMs: { p50: percentile(firstDelta, 50), p95: percentile(firstDelta, 95) },
    settledMs: percentiles(settled),
  };
}

export const percentiles = (times: readonly number[]) => ({
  p50: percentile(times, 50),
  p95: percentile(times, 95),
  p99: percentile(times, 99),
});

/** Works through all items with a fixed number in parallel. */
export async function inTurn<T>(
  all: readonly T[],
  atOnce: number = all.length,
  work: (one: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < all.length; index = next++) await work(all[index] as T, index);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, all.length) }, worker));
}

interface Follower {
  state: Watched;
  leave: () => void;
}

async function follow(
  client: HttpClient,
  session: string,
  firstDelta: number[],
  settled: number[],
): Promise<Follower> {
  const state: Watched = { sentAt: 0, sawDelta: true, settled: () => {} };
  const path = `/api/sessions/${session}/events?after=${await lastSeq(client, session)}`;
  const leave = await client.follow(path, (type) => {
    if (type === "delta") {
      if (state.sawDelta) return;
      state.sawDelta = true;
      firstDelta.push(performance.now() - state.sentAt);
    } else if (type === "prompt_settled") {
      settled.push(performance.now() - state.sentAt);
      state.settled();
    }
  });
  return { state, leave };
}

/** The end of a session's log, so that nothing old is replayed. */
export async function lastSeq(client: HttpClient, session: string): Promise<number> {
  const text = await client.get(`/api/sessions/${session}`);
  return (JSON.parse(text) as { session: { lastSeq: number } }).session.lastSeq;
}

/** Counts the bytes of one turn's events, as sent to one viewer of its session. */
export async function watchOne(
  job: Extract<Job, { kind: "viewer" }>,
): Promise<JobResults["viewer"]> {
  const client = createHttpClient(job.target, 1);
  const after = await lastSeq(client, job.sessionId);
  let bytes = 0;
  let deltas = 0;
  const { promise: settled, resolve } = Promise.withResolvers<void>();
  const leave = await client.follow(
    `/api/sessions/${job.sessionId}/events?after=${after}`,
    (type, block) => {
      bytes += Buffer.byteLength(block) + 2;
      if (type === "delta") deltas++;
      if (type === "prompt_settled") resolve();
    },
  );
  await client.post(
    `/api/sessions/${job.sessionId}/prompts`,
    JSON.stringify({ content: job.content }),
  );
  await settled;
  leave();
  client.close();
  return { bytes, deltas };
}
