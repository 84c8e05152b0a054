/**
 * Sessions as clients see them, with facts beyond their own rows: the trouble of their runs, and
 * what they wait for. This takes two more reads for a page of sessions, and none when none of them
 * has a run.
 */
import type { Reader } from "#base/store/index.ts";
import type { Session } from "#protocol/sessions.ts";
import { matchRunners, takeoverAt, troubleOf } from "../runs/claims/runner-match.ts";
import { listLiveRunsOf } from "../runs/claims/waiting-run-queries.ts";
import type { RunnerStanding } from "../runs/runners/runner-capabilities.ts";
import { listStandings } from "../runs/runners/runner-queries.ts";
import type { RunRow, SessionRow } from "../schema.ts";
import { sessionWait, UNKNOWN_SURROUNDINGS } from "./turns/waiting-for.ts";
import { type SessionSurroundings, sessionView } from "./views.ts";

/** Describes sessions of one organisation. */
export async function describeSessions(
  reader: Reader,
  rows: readonly SessionRow[],
  now: number,
): Promise<Session[]> {
  const surroundings = await lookAroundSessions(reader, rows, now);
  return rows.map((row) => sessionView(row, surroundings(row)));
}

export async function describeSession(
  reader: Reader,
  row: SessionRow,
  now: number,
): Promise<Session> {
  const surroundings = await lookAroundSessions(reader, [row], now);
  return sessionView(row, surroundings(row));
}

async function lookAroundSessions(
  reader: Reader,
  rows: readonly SessionRow[],
  now: number,
): Promise<(row: SessionRow) => SessionSurroundings> {
  const live = rows.filter(({ run_state }) => run_state !== null);
  const [first] = live;
  if (!first) return (row) => surroundingsOf(row, [], [], now);
  const ids = live.map(({ id }) => id);
  const runs = Map.groupBy(await listLiveRunsOf(reader, ids), ({ session_id }) => session_id);
  const runners = await listStandings(reader, first.org_id);
  return (row) => surroundingsOf(row, runs.get(row.id) ?? [], runners, now);
}

function surroundingsOf(
  row: SessionRow,
  runs: readonly RunRow[],
  runners: readonly RunnerStanding[],
  now: number,
): SessionSurroundings {
  const run = runs.find(({ state }) => state === row.run_state);
  if (!run)
    return { trouble: null, waitingFor: sessionWait(row, { ...UNKNOWN_SURROUNDINGS, now }) };
  const around = {
    run,
    runners: run.state === "pending" ? matchRunners(runners, run) : ("fit" as const),
    takeoverAt: takeoverAt(runners, run, now),
    now,
  };
  return { trouble: troubleOf(runners, run, now), waitingFor: sessionWait(row, around) };
}
