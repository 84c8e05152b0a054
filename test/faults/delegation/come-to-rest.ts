/** Waits until a household has settled, and reads everything. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Session } from "#protocol/sessions.ts";
import { type Api, listAll, unlessRefused } from "../clients/api.ts";
import { findPrompt, readSession, UNSETTLED } from "../clients/observe.ts";
import type { Observation, ObservedSession } from "../history.ts";
import type { Household } from "./household.ts";
import type { PassersBy } from "./passers-by.ts";

/** A lease, the pause after a start, a model that is retried, and some slack. */
const REST_WITHIN_MS = 120_000;
const LOOK_EVERY_MS = 150;
/** A question that is open for this long is answered by a person. */
const PATIENCE_MS = 1_500;
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
  const busy = await listSessions(api, "pending,running,stopping");
  let count = 0;
  for (const { id } of busy) {
    const query = { state: UNSETTLED, limit: 1 };
    count += (await api.patient.prompts.list({ id, query })).items.length;
  }
  return count;
}

async function answerQuestions(api: Api, seen: Map<string, number>): Promise<void> {
  const { approvals } = api.patient;
  const { items } = await approvals.list({ query: { state: "pending", limit: 100 } });
  for (const { id, kind } of items) {
    const since = seen.get(id) ?? Date.now();
    seen.set(id, since);
    if (Date.now() - since < PATIENCE_MS) continue;
    const body = kind === "plan" ? ({ decision: "allow" } as const) : { answers: ["as you like"] };
    await unlessRefused(approvals.decide({ id, body }));
  }
}

/** Sessions in every lifecycle, of one status or of all. */
function listSessions(api: Api, status?: string): Promise<Session[]> {
  const lifecycle = "active,hibernated,archived,terminated";
  return listAll((page) => api.patient.sessions.list({ query: { ...page, lifecycle, status } }));
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
    const left = await listSessions(api);
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
    const api = readBy.get(sessionId);
    const second = api && (await findPrompt(api, id));
    readings.set(id, [rows.get(id) ?? null, second ?? null]);
  }
  return { sessions, readings };
}
