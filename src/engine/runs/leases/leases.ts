/** Leases: renewed by the runner that holds them, given back by a draining one, expired by the sweep. */

import { forEachIndependently } from "#engine/for-each-independently.ts";
import { unmarkDelivered } from "#engine/gates/gates.ts";
import type { RunRow } from "#engine/schema.ts";
import { isHeldState } from "#engine/transitions/run-transitions.ts";
import { command, type Engine, type SessionWriter, type Work } from "#engine/work.ts";
import { LEASE_MS } from "#protocol/frames.ts";
import { listOverdueStops } from "../claims/waiting-run-queries.ts";
import { findRun, listExpired, listHeldBy, listLiveRuns, renewLease, saveRun } from "../queries.ts";
import { loseRun } from "./lose-run.ts";
import type { LossReason } from "./loss-evidence.ts";

export interface RunRef {
  run: string;
  fence: number;
}

/** Renews the leases that the runner still holds; returns the runs that are no longer its own. */
export function renewLeases(
  engine: Engine,
  runnerId: string,
  refs: readonly RunRef[],
): Promise<string[]> {
  return engine.store.transaction(async (tx) => {
    const lost: string[] = [];
    // Ordered by id, so that two renewals never wait for each other.
    for (const { run, fence } of [...refs].sort((a, b) => (a.run < b.run ? -1 : 1))) {
      const ok = await renewLease(tx, { id: run, fence, runnerId, leaseUntil: tx.now + LEASE_MS });
      if (!ok) lost.push(run);
    }
    return lost;
  });
}

/** Gives back a run of a draining runner unharmed. `begun`: the runner may have done something. */
export async function releaseRun(
  engine: Engine,
  runnerId: string,
  { run: runId, fence }: RunRef,
  begun: boolean,
): Promise<void> {
  await command(engine, async (work) => {
    const found = await findRun(work.tx, runId);
    const session = found && (await work.sessionWithParent(found.session_id));
    const run = session && (await findRun(work.tx, runId));
    if (
      !session ||
      !run ||
      run.fence !== fence ||
      run.runner_id !== runnerId ||
      !isHeldState(run.state)
    )
      return;
    if (!begun) await unmarkDelivered(work, run);
    await loseRun(work, session, run, "released");
  });
}

/**
 * Takes runs away from a runner at once: those of its earlier process when it was started again, or
 * all of them when its token was revoked. `holding`: runs that its present process still works on.
 */
export async function freeHeldRuns(
  engine: Engine,
  runnerId: string,
  holding: readonly RunRef[],
  reasonFor: (run: RunRow) => LossReason,
  /** False when a later registration has overtaken this one, which then must not judge held runs. */
  isCurrent: () => boolean = () => true,
): Promise<void> {
  const held = await engine.store.read((reader) => listHeldBy(reader, runnerId));
  const kept = new Set(holding.map(({ run, fence }) => `${run}#${fence}`));
  for (const { id, fence, session_id } of held) {
    if (kept.has(`${id}#${fence}`)) continue;
    await command(engine, async (work) => {
      const session = await work.sessionWithParent(session_id);
      const run = session && (await findRun(work.tx, id));
      const isTheirs = run?.fence === fence && run.runner_id === runnerId && isHeldState(run.state);
      if (session && run && isTheirs && isCurrent())
        await loseRun(work, session, run, reasonFor(run));
    });
  }
}

/**
 * Takes runs away from a runner that ended with its server. Only those that the dead server
 * assigned: the runner may have come back meanwhile, and later runs are its own.
 */
export async function freeRunsOfDeadServer(
  engine: Engine,
  runnerId: string,
  serverId: string,
): Promise<void> {
  const held = await engine.store.read((reader) => listHeldBy(reader, runnerId));
  const given = held.filter((run) => run.server_boot === serverId);
  await forEachIndependently(given, ({ id, fence, session_id }) =>
    command(engine, async (work) => {
      const session = await work.sessionWithParent(session_id);
      const run = session && (await findRun(work.tx, id));
      const isTheirs = run?.fence === fence && run.runner_id === runnerId && isHeldState(run.state);
      if (session && run && isTheirs) await loseRun(work, session, run, "server_died");
    }),
  );
}

const SWEEP_BATCH = 100;
/**
 * Margin after the end of a lease before it is taken away: a runner counts from the moment it got
 * the assignment, which may be a little later than the server's own time.
 */
export const EXPIRY_MARGIN_MS = 2_000;

/**
 * Takes runs away from runners that have not renewed. Safe to run on every server at once.
 * `mayExpire` is asked again for each: the clock may be moved at any moment.
 */
export async function expireLeases(
  engine: Engine,
  now: number,
  mayExpire: () => boolean,
): Promise<void> {
  const expired = await engine.store.read((reader) =>
    listExpired(reader, leaseSpan(now), SWEEP_BATCH),
  );
  await forEachIndependently(expired, ({ id, session_id, fence }) =>
    command(engine, async (work) => {
      const session = await work.sessionWithParent(session_id);
      const run = session && (await findRun(work.tx, id));
      if (!session || !run || run.fence !== fence || !isHeldState(run.state)) return;
      if (run.lease_until === null || !isOver(run.lease_until, work.now)) return;
      if (!mayExpire()) return;
      await loseRun(work, session, run, "lease_expired");
    }),
  );
}

/** An honest runner ends a turn by itself when its grace time is over; this is for the others. */
const STOP_OVERDUE_MS = 5_000;

/**
 * Ends turns that were told to end and have not, though their runners still renew them: a program
 * that ignores the order, or a runner that never got it, must not hold a session for ever.
 */
export async function endOverdueStops(
  engine: Engine,
  now: number,
  mayExpire: () => boolean,
): Promise<void> {
  const overdue = await engine.store.read((reader) =>
    listOverdueStops(reader, now - STOP_OVERDUE_MS, SWEEP_BATCH),
  );
  await forEachIndependently(overdue, ({ id, session_id, fence }) =>
    command(engine, async (work) => {
      const session = await work.sessionWithParent(session_id);
      const run = session && (await findRun(work.tx, id));
      if (!session || !run || run.fence !== fence || run.state !== "stopping") return;
      if (run.stop_by === null || run.stop_by >= work.now - STOP_OVERDUE_MS) return;
      if (mayExpire()) await endOverdueTurn(work, session, run);
    }),
  );
}

/**
 * Delays the next turn until the lease's end: the runner may still work in the same files until
 * then.
 */
async function endOverdueTurn(work: Work, session: SessionWriter, run: RunRow): Promise<void> {
  const leaseEnd = (run.lease_until ?? 0) + EXPIRY_MARGIN_MS;
  await loseRun(work, session, run, "stop_overdue");
  const next = (await listLiveRuns(work.tx, session.row.id)).filter(
    ({ state, thread }) =>
      state === "pending" && (session.row.exclusive === 1 || thread === run.thread),
  );
  for (const waiting of next)
    await saveRun(work.tx, {
      ...waiting,
      available_at: Math.max(waiting.available_at, leaseEnd),
    });
}

/** No lease ends later than one that begins now, unless the clock was moved back. */
function leaseSpan(now: number): { past: number; future: number } {
  return { past: now - EXPIRY_MARGIN_MS, future: now + LEASE_MS };
}

function isOver(leaseUntil: number, now: number): boolean {
  const { past, future } = leaseSpan(now);
  return leaseUntil < past || leaseUntil > future;
}
