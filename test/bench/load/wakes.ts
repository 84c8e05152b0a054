/**
 * Children that settle one at a time, among idle ones; the model reports how soon parents hear of
 * it.
 */
import { createHttpClient, type HttpClient } from "./http-client.ts";
import type { Job, JobResults, ParentWithChildren } from "./jobs.ts";
import { RawClient } from "./raw-client.ts";
import { lastSeq } from "./turns.ts";

const CONTENT = JSON.stringify({ content: "a task of a usual length for a child, one line" });

interface Led extends ParentWithChildren {
  told: () => void;
  leave: () => void;
}

export async function wakeParents(
  job: Extract<Job, { kind: "wakes" }>,
): Promise<JobResults["wakes"]> {
  const client = createHttpClient(job.target, job.families.length);
  const sender = new RawClient(job.target);
  const families = await Promise.all(job.families.map((family) => follow(client, family)));
  for (let turn = 0; turn < job.turns; turn++) {
    const family = families[turn % families.length] as Led;
    const round = Math.floor(turn / families.length);
    const child = family.children[round % family.children.length];
    const told = new Promise<void>((resolve) => {
      family.told = resolve;
    });
    await sender.send(sender.encode(`/api/sessions/${child}/prompts`, CONTENT));
    await told;
  }
  for (const { leave } of families) leave();
  sender.close();
  client.close();
  return { turns: job.turns };
}

/** Follows a parent: a settled turn means that it was notified and is done. */
async function follow(client: HttpClient, family: ParentWithChildren): Promise<Led> {
  const led: Led = { ...family, told: () => {}, leave: () => {} };
  const path = `/api/sessions/${family.parent}/events?after=${await lastSeq(client, family.parent)}`;
  led.leave = await client.follow(path, (type) => {
    if (type === "prompt_settled") led.told();
  });
  return led;
}
