/**
 * Sessions as clients see them, with facts beyond their own rows: the trouble of their runs, what
 * they wait for, and the fields that features keep. This takes two more reads for a page of
 * sessions, none when none of them has a run, and at most one for each feature.
 */
import type { Reader } from "#base/store/index.ts";
import type { Session } from "#protocol/sessions.ts";
import { matchRunners, takeoverAt, troubleOf } from "../runs/claims/runner-match.ts";
import { listLiveRunsOf } from "../runs/claims/waiting-run-queries.ts";
import type { RunnerAvailability } from "../runs/runners/runner-capabilities.ts";
import { listRunnerAvailability } from "../runs/runners/runner-queries.ts";
import type { RunRow, SessionRow } from "../schema.ts";
import type { ReadContext } from "./read-context.ts";
import { sessionWait, UNKNOWN_SURROUNDINGS } from "./turns/waiting-for.ts";
import { type SessionSurroundings, sessionView } from "./views.ts";

/** Describes sessions of one organisation. */
export async function describeSessions(
  { reader, now, describers }: ReadContext,
  rows: readonly SessionRow[],
): Promise<Session[]> {
  const surroundings = await lookAroundSessions(reader, rows, now);
  let shown = rows.map((row) => sessionView(row, surroundings(row)));
  for (const describe of describers) {
    const views = await describe(reader, rows);
    shown = shown.map((one) => ({ ...one, ...views.get(one.id) }));
  }
  return shown;
}

export async function describeSession(context: ReadContext, row: SessionRow): Promise<Session> {
  const [session] = await describeSessions(context, [row]);
  return session as Session;
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
  const runners = await listRunnerAvailability(reader, first.org_id);
  return (row) => surroundingsOf(row, runs.get(row.id) ?? [], runners, now);
}

function surroundingsOf(
  row: SessionRow,
  runs: readonly RunRow[],
  runners: readonly RunnerAvailability[],
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
