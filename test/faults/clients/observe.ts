/** Waits until everything has settled, and reads the program's final state. */
import { setTimeout as sleep } from "node:timers/promises";
import type { SessionEvent } from "#protocol/events.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import type { Entry, Prompt } from "#protocol/sessions.ts";
import type { LoggedEvent, Observation, ObservedSession } from "../history.ts";
import { type Api, digestOf, listAll, NoAnswer, unlessRefused } from "./api.ts";
import type { Load, LoadedSession } from "./load.ts";

/** A lease, the pause after a server start, a collect buffer, and some slack. */
const SETTLE_WITHIN_MS = 60_000;
const CATCH_UP_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 100;
/** States of prompts whose outcome is still open. */
export const UNSETTLED = "queued,collecting,running,gated";

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
      const query = { state: UNSETTLED, limit: 1 };
      const { items } = await api.patient.prompts.list({ id: session.id, query });
      if (items.length > 0) still.push(session);
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
    const prompt = await findPrompt(api, id);
    if (prompt) found.set(id, prompt);
  }
  return found;
}

/** Undefined if the server does not know it. */
export async function findPrompt(api: Api, id: string): Promise<Prompt | undefined> {
  return (await unlessRefused(api.patient.prompts.get({ id })))?.prompt;
}

/** Prompts of a session, all pages of them. */
export function listPrompts(api: Api, id: string, state?: string): Promise<Prompt[]> {
  return listAll((page) => api.patient.prompts.list({ id, query: { ...page, state } }));
}

export async function readSession(
  api: Api,
  { id, runtime }: LoadedSession,
): Promise<ObservedSession> {
  const found = await unlessRefused(api.patient.sessions.get({ id }));
  if (!found) return { id, runtime, lastSeq: 0, log: [], transcript: [], prompts: [] };
  const { lastSeq } = found.session;
  return {
    id,
    runtime,
    lastSeq,
    log: await readLog(api, id, lastSeq),
    transcript: await readTranscript(api, id),
    prompts: await listPrompts(api, id),
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
    const query = { after, limit: PAGE_LIMIT_MAX };
    const { items } = await api.patient.sessions.transcript({ id: sessionId, query });
    if (items.length === 0) return entries;
    entries.push(...items);
  }
}
