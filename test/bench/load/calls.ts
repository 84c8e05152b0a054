/** Direct calls of the model, as a program without any server in between would make them. */
import { requestBody } from "../model/answers.ts";
import type { Job, TurnResult } from "./jobs.ts";
import { RawClient } from "./raw-client.ts";
import { inTurn, percentiles } from "./turns.ts";

export async function callModel(job: Extract<Job, { kind: "calls" }>): Promise<TurnResult> {
  const body = requestBody(job.model, job.content);
  const times: number[] = [];
  const startedAt = performance.now();
  const sessions = Array.from({ length: job.sessions }, (_, number) => number);
  await inTurn(sessions, job.atOnce, async () => {
    const client = new RawClient({ port: job.port, key: "bench" });
    const request = client.encode("/v1/messages", body);
    for (let turn = 0; turn < job.turnsEach; turn++) {
      const sentAt = performance.now();
      await client.send(request);
      times.push(performance.now() - sentAt);
    }
    client.close();
  });
  // The answer comes in one piece: its first byte and its end are one moment.
  const took = percentiles(times);
  const elapsedMs = performance.now() - startedAt;
  return { turns: times.length, elapsedMs, firstDeltaMs: took, settledMs: took };
}
