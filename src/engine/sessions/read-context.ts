/** Context of a read that shows sessions: the database, the time, and the features that add fields. */
import type { Reader } from "#base/store/index.ts";
import type { Session } from "#protocol/sessions.ts";
import type { SessionRow } from "../schema.ts";

/** Fields of shown sessions that a feature keeps, by session id. */
export type KeptViews = ReadonlyMap<string, Partial<Session>>;

/** Reads a feature's fields for a page of sessions, with one query at most. */
export type SessionDescriber = (reader: Reader, rows: readonly SessionRow[]) => Promise<KeptViews>;

export interface ReadContext {
  reader: Reader;
  now: number;
  describers: readonly SessionDescriber[];
}

export function readContext(
  { describers, clock }: { describers: readonly SessionDescriber[]; clock: { now(): number } },
  reader: Reader,
): ReadContext {
  return { reader, now: clock.now(), describers };
}
