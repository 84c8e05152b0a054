/** The load process: takes a job, runs it, sends its result. */
import { percentile } from "../figure.ts";
import { callModel } from "./calls.ts";
import { fanout, release, stall } from "./fanout.ts";
import { createHttpClient } from "./http-client.ts";
import type { Job, JobResults } from "./jobs.ts";
import { RawClient } from "./raw-client.ts";
import { runTurns, watchOne } from "./turns.ts";
import { wakeParents } from "./wakes.ts";

type Result = JobResults[Job["kind"]];

function perform(job: Job): Promise<Result> {
  switch (job.kind) {
    case "sessions":
      return createSessions(job);
    case "turns":
      return runTurns(job);
    case "calls":
      return callModel(job);
    case "wakes":
      return wakeParents(job);
    case "acks":
      return acknowledge(job);
    case "fanout":
    case "broadcast":
      return fanout(job);
    case "stall":
      return stall(job);
    case "release":
      return release();
    case "viewer":
      return watchOne(job);
  }
}

const CREATORS = 16;

async function createSessions(job: Extract<Job, { kind: "sessions" }>): Promise<string[]> {
  const client = createHttpClient(job.target, CREATORS);
  const { runtime, model, parentSessionId } = job;
  const body = JSON.stringify({ runtime, model, parentSessionId });
  const ids: string[] = [];
  let left = job.count;
  const create = async () => {
    while (left-- > 0) {
      const text = await client.post("/api/sessions", body);
      ids.push((JSON.parse(text) as { session: { id: string } }).session.id);
    }
  };
  await Promise.all(Array.from({ length: CREATORS }, create));
  client.close();
  return ids;
}

async function acknowledge(job: Extract<Job, { kind: "acks" }>): Promise<JobResults["acks"]> {
  const clients = Array.from({ length: job.clients }, () => new RawClient(job.target));
  const body = JSON.stringify({ content: "a prompt of a usual length for a person, one line" });
  const requests = job.sessions.map((id) =>
    (clients[0] as RawClient).encode(`/api/sessions/${id}/prompts`, body),
  );
  const times: number[] = [];
  let next = 0;
  const startedAt = performance.now();
  const until = startedAt + job.forMs;
  const send = async (client: RawClient) => {
    for (let now = performance.now(); now < until; now = performance.now()) {
      await client.send(requests[next++ % requests.length] as Buffer);
      times.push(performance.now() - now);
    }
    client.close();
  };
  await Promise.all(clients.map(send));
  const elapsedMs = performance.now() - startedAt;
  return { acksPerSecond: (times.length / elapsedMs) * 1_000, p50Ms: percentile(times, 50) };
}

process.on("message", (job: Job) => {
  perform(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: (error as Error).stack ?? String(error) }),
  );
});
process.on("disconnect", () => process.exit(0));
process.send?.({});
