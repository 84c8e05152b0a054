/** Waits until everything has settled, and reads the program's final state. */
import { setTimeout as sleep } from "node:timers/promises";
import type { SessionEvent } from "#protocol/events.ts";
import type { Entry, Prompt, Session } from "#protocol/sessions.ts";
import type { LoggedEvent, Observation, ObservedSession } from "../history.ts";
import { type Api, digestOf, NoAnswer } from "./api.ts";
import type { Load, LoadedSession } from "./load.ts";

/** A lease, the pause after a server start, a collect buffer, and some slack. */
const SETTLE_WITHIN_MS = 60_000;
const CATCH_UP_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 100;
const UNSETTLED = "state=queued,collecting,running,gated";

/** Ends the load, waits for the last outcome, and reads everything. */
export async function observe(load: Load): Promise<Observation> {
  await load.end();
  const [api] = load.apis as [Api, ...Api[]];
  await settled(api, load.sessions);
  const sessions: ObservedSession[] = [];
  const first = await readPrompts(api, load);
  for (const session of load.sessions) sessions.push(await readSession(api, session));
  await caughtUp(load, sessions);
  await load.leave();
  const second = await readPrompts(api, load);
  const readings = new Map(
    load.history.prompts.map(({ id }) => [
      id,
      [first.get(id) ?? null, second.get(id) ?? null] as [Prompt | null, Prompt | null],
    ]),
  );
  return { sessions, readings };
}

/** Returns when nothing is open, or when waiting longer would not help; the checker tells. */
async function settled(api: Api, sessions: readonly LoadedSession[]): Promise<void> {
  const deadline = Date.now() + SETTLE_WITHIN_MS;
  let open = [...sessions];
  while (open.length > 0 && Date.now() < deadline) {
    const still: LoadedSession[] = [];
    for (const session of open) {
      const page = await api.get(`/api/sessions/${session.id}/prompts?${UNSETTLED}&limit=1`);
      if ((page.items as Prompt[]).length > 0) still.push(session);
    }
    open = still;
    if (open.length > 0) await sleep(LOOK_EVERY_MS);
  }
}

async function caughtUp(load: Load, sessions: readonly ObservedSession[]): Promise<void> {
  const deadline = Date.now() + CATCH_UP_WITHIN_MS;
  const last = new Map(sessions.map(({ id, lastSeq }) => [id, lastSeq]));
  const behind = () =>
    load.followers.some(({ lastSeq, record }) => lastSeq < (last.get(record.sessionId) ?? 0));
  while (behind() && Date.now() < deadline) await sleep(LOOK_EVERY_MS);
}

async function readPrompts(api: Api, load: Load): Promise<Map<string, Prompt>> {
  const found = new Map<string, Prompt>();
  for (const { id } of load.history.prompts) {
    const answer = await api.insist("GET", `/api/prompts/${id}`);
    if (answer.status === 200) found.set(id, answer.body.prompt as Prompt);
  }
  return found;
}

export async function readSession(
  api: Api,
  { id, runtime }: LoadedSession,
): Promise<ObservedSession> {
  const answer = await api.insist("GET", `/api/sessions/${id}`);
  if (answer.status !== 200)
    return { id, runtime, lastSeq: 0, log: [], transcript: [], prompts: [] };
  const { lastSeq } = answer.body.session as Session;
  return {
    id,
    runtime,
    lastSeq,
    log: await readLog(api, id, lastSeq),
    transcript: await readTranscript(api, id),
    prompts: await api.list<Prompt>(`/api/sessions/${id}/prompts`),
  };
}

async function readLog(api: Api, sessionId: string, lastSeq: number): Promise<LoggedEvent[]> {
  const log: LoggedEvent[] = [];
  const enough = new AbortController();
  try {
    for await (const { seq, json } of api.events(sessionId, 0, enough.signal, 5_000)) {
      log.push({ event: JSON.parse(json) as SessionEvent, digest: digestOf(json) });
      if (seq >= lastSeq) break;
    }
  } catch (error) {
    // A log that cannot be read to its end has a gap; the checker reports it.
    if (!(error instanceof NoAnswer)) throw error;
  }
  enough.abort();
  return log;
}

async function readTranscript(api: Api, sessionId: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const after = entries.at(-1)?.seq ?? 0;
    const page = await api.get(`/api/sessions/${sessionId}/transcript?after=${after}&limit=200`);
    const items = page.items as Entry[];
    if (items.length === 0) return entries;
    entries.push(...items);
  }
}
