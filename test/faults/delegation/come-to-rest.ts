/** Waits until a household has settled, and reads everything. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Prompt, Session } from "#protocol/sessions.ts";
import type { Api } from "../clients/api.ts";
import { readSession } from "../clients/observe.ts";
import type { Observation, ObservedSession } from "../history.ts";
import type { Household } from "./household.ts";
import type { PassersBy } from "./passers-by.ts";

/** A lease, the pause after a start, a model that is retried, and some slack. */
const REST_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 150;
/** A question that is open for this long is answered by a person. */
const PATIENCE_MS = 1_500;
const ALL = "lifecycle=active,hibernated,archived,terminated";
const UNSETTLED = "state=queued,collecting,running,gated";
const READERS = 4;

export interface ObservedMember extends ObservedSession {
  title: string;
  parentSessionId: string | null;
  lifecycle: string;
}

export interface HouseholdObservation extends Observation {
  sessions: ObservedMember[];
}

/** Starts nothing new; work in progress ends, and everyone is notified. */
export async function comeToRest(household: Household, people: PassersBy): Promise<void> {
  for (const { foreman } of household.parents) foreman.isEnding = true;
  await people.leave();
  await untilRest(household);
  // Ends every wait, and shows each model everything that was delivered before.
  for (const parent of household.parents)
    for (const thread of parent.threads)
      await people.prompt(parent, "How do things stand?", thread);
  await untilRest(household);
}

async function untilRest({ apis }: Household): Promise<void> {
  const deadline = Date.now() + REST_WITHIN_MS;
  const seen = new Map<string, number>();
  for (let still = 0; still < 2 && Date.now() < deadline; ) {
    const open: number[] = [];
    for (const api of apis) {
      await answerQuestions(api, seen);
      open.push(await countUnsettled(api));
    }
    still = open.some((count) => count > 0) ? 0 : still + 1;
    await sleep(LOOK_EVERY_MS);
  }
}

async function countUnsettled(api: Api): Promise<number> {
  const busy = await api.list<Session>(`/api/sessions?${ALL}&status=pending,running,stopping`);
  let count = 0;
  for (const { id } of busy) {
    const page = await api.get(`/api/sessions/${id}/prompts?${UNSETTLED}&limit=1`);
    count += (page.items as Prompt[]).length;
  }
  return count;
}

async function answerQuestions(api: Api, seen: Map<string, number>): Promise<void> {
  const page = await api.get("/api/approvals?state=pending&limit=100");
  for (const { id, kind } of page.items as { id: string; kind: string }[]) {
    const since = seen.get(id) ?? Date.now();
    seen.set(id, since);
    if (Date.now() - since < PATIENCE_MS) continue;
    const answer = kind === "plan" ? { decision: "allow" } : { answers: ["as you like"] };
    await api.insist("POST", `/api/approvals/${id}`, answer);
  }
}

export async function readHousehold({
  apis,
  parents,
  history,
}: Household): Promise<HouseholdObservation> {
  const sessions: ObservedMember[] = [];
  const readings: Observation["readings"] = new Map();
  const readBy = new Map<string, Api>();
  const parallel = new Set(
    parents.filter(({ kind }) => kind === "orchestrator").map(({ id }) => id),
  );
  for (const api of apis) {
    const left = await api.list<Session>(`/api/sessions?${ALL}`);
    const read = async () => {
      for (let next = left.pop(); next; next = left.pop()) {
        const { id, title, parentSessionId, lifecycle } = next;
        const seen = await readSession(api, { id, runtime: "played" });
        const isParallel = parallel.has(id);
        readBy.set(id, api);
        sessions.push({ ...seen, title: title ?? "", parentSessionId, lifecycle, isParallel });
      }
    };
    await Promise.all(Array.from({ length: READERS }, read));
  }
  // Read a second time through another route: a settled prompt stays the same.
  const rows = new Map(sessions.flatMap(({ prompts }) => prompts.map((one) => [one.id, one])));
  for (const { id, sessionId } of history.prompts) {
    const answer = await readBy.get(sessionId)?.insist("GET", `/api/prompts/${id}`);
    const second = answer?.status === 200 ? (answer.body.prompt as Prompt) : null;
    readings.set(id, [rows.get(id) ?? null, second]);
  }
  return { sessions, readings };
}
