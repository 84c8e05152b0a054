/**
 * Purges sessions for good, with all their rows: archived ones when their time is over, and those
 * of somebody whose data is to be removed. Work is done in steps of a bounded number of rows, each
 * a transaction of its own; a step that finds the database busy asks for a longer pause.
 */
import { forEachIndependently } from "#engine/for-each-independently.ts";
import { createPace, type StepTimes, timed } from "#engine/timers/pace.ts";
import { command, type Engine, type Work } from "#engine/work.ts";
import { findWorkspace } from "#engine/workspaces/queries.ts";
import { terminateTree } from "../lifecycle/lifecycle.ts";
import { findSession } from "../queries.ts";
import {
  dropRemains,
  listOwnedSessions,
  listPurgeable,
  listRemains,
  listRemainsOf,
  lockRemains,
  type PurgePosition,
  purgeBulk,
  purgeSession,
} from "./purge-queries.ts";

/** Sessions looked up at a time. */
const BATCH = 20;
/** Rows of one step where nothing is measured. */
const FEW_ROWS = 50;
const START: PurgePosition = { at: 0, id: "" };
/** Delay before the removal of a session is tried again after a failure. */
const FAILED_AGAIN_MS = 10 * 60_000;

export interface Purger {
  /**
   * Does one step of due and half-finished removals. Returns the pause before the next step, in ms;
   * undefined when nothing is due. `before` returns the instant before which a session must have
   * been archived, as of now, or as of the database's clock when that is given.
   */
  step(before: (now?: number) => number): Promise<number | undefined>;
}

/** Makes a purger; `tables` are those of features whose rows belong to a session. */
export function createPurger(engine: Engine, tables: readonly string[]): Purger {
  const { store } = engine;
  const pace = createPace(engine);
  const remains = createWorklist(engine, (place) =>
    store.read((reader) => listRemains(reader, place, BATCH)),
  );
  let archivedBefore = 0;
  const due = createWorklist(engine, (place) =>
    store.read((reader) => listPurgeable(reader, archivedBefore, place, BATCH)),
  );
  return {
    async step(before) {
      const left = await remains.next();
      if (left)
        return pace.step((limit) =>
          remains.attempt(left, async () => {
            const step = await purgeRemains(engine, left.id, tables, limit);
            if (!step.isOver) remains.goOnWith(left);
            return step;
          }),
        );
      archivedBefore = before();
      const next = await due.next();
      if (!next) return undefined;
      return pace.step((limit) =>
        due.attempt(next, () => removeSession(engine, next.id, before, { tables, rows: limit })),
      );
    },
  };
}

/**
 * Walks a list of sessions again and again, some at a time. A session whose removal failed is left
 * out for a while, so that it blocks neither the others nor the rest of housekeeping.
 */
function createWorklist(
  { clock }: Engine,
  list: (after: PurgePosition) => Promise<readonly PurgePosition[]>,
) {
  const instant = () => clock.steady?.() ?? clock.now();
  /** Failed sessions, and the time when each is tried again. */
  const failed = new Map<string, number>();
  let place = START;
  let waiting: PurgePosition[] = [];
  return {
    /** Next session; undefined at the end of the list, which begins anew with the next call. */
    async next(): Promise<PurgePosition | undefined> {
      while (waiting.length === 0) {
        const some = await list(place);
        place = some.at(-1) ?? START;
        if (some.length === 0) return undefined;
        waiting = some.filter(({ id }) => (failed.get(id) ?? 0) <= instant());
      }
      return waiting.shift();
    },
    goOnWith(one: PurgePosition): void {
      waiting.unshift(one);
    },
    async attempt<T>({ id }: PurgePosition, act: () => Promise<T>): Promise<T> {
      try {
        return await act();
      } catch (error) {
        for (const [old, again] of failed) if (again <= instant()) failed.delete(old);
        failed.set(id, instant() + FAILED_AGAIN_MS);
        throw error;
      }
    },
  };
}

/** Deletes some remains of a session. `isOver`: nothing is left, or another server does it. */
async function purgeRemains(
  engine: Engine,
  id: string,
  tables: readonly string[],
  rows: number,
): Promise<StepTimes & { isOver: boolean }> {
  let isOver = false;
  const times = await timed(engine, async (tx) => {
    const isOurs = await lockRemains(tx, id);
    const isEmpty = isOurs && (await purgeBulk(tx, id, tables, rows));
    if (isEmpty) await dropRemains(tx, id);
    isOver = isEmpty || !isOurs;
  });
  return { ...times, isOver };
}

/** Deletes all remains of a purged session, however many: for a new session of the same id. */
export async function finishPurge(work: Work, id: string): Promise<void> {
  // A purge under way must end first: rows of the new session would look like remains of the old
  // one.
  if (!(await lockRemains(work.tx, id, { waits: true }))) return;
  while (!(await purgeBulk(work.tx, id, work.sessionTables, FEW_ROWS)));
  await dropRemains(work.tx, id);
}

/**
 * Ends and removes some of a person's sessions. True when none is left; a session whose turn is
 * still ending is left for the next round.
 */
export async function purgeSessionsOf(
  engine: Engine,
  { orgId, userId }: { orgId: string; userId: string },
  tables: readonly string[],
): Promise<boolean> {
  const some = await engine.store.read((reader) => listOwnedSessions(reader, orgId, userId, BATCH));
  await forEachIndependently(some, async ({ id }) => {
    await command(engine, async (work) => {
      const session = await work.sessionWithParent(id);
      if (session && session.row.lifecycle !== "terminated") await terminateTree(work, session);
    });
    const all = { tables, rows: FEW_ROWS };
    await removeSession(engine, id, () => Number.POSITIVE_INFINITY, all);
  });
  const remains = await engine.store.read((reader) => listRemainsOf(reader, orgId, userId, BATCH));
  await forEachIndependently(remains, async ({ session_id: id }) => {
    while (!(await purgeRemains(engine, id, tables, FEW_ROWS)).isOver);
  });
  return some.length === 0 && remains.length === 0;
}

/** Removes an ended session now. The command must not hold its lock. */
export async function purgeEnded(work: Work, id: string): Promise<"gone" | "busy" | "not_ended"> {
  const session = await findSession(work.tx, id);
  const workspace = await findWorkspace(work.tx, id);
  if (session?.archived_at === null) return "not_ended";
  const all = { featureTables: work.sessionTables, rows: FEW_ROWS };
  if (!(await purgeSession(work.tx, id, Number.POSITIVE_INFINITY, all)))
    return session ? "busy" : "gone";
  if (workspace) work.tx.afterCommit(() => work.announcer.tidy(workspace.runner_id));
  return "gone";
}

/** Notifies the machine that holds the session's files, which then removes them. */
async function removeSession(
  engine: Engine,
  id: string,
  before: (now: number) => number,
  { tables, rows }: { tables: readonly string[]; rows: number },
): Promise<StepTimes> {
  return timed(engine, async (tx) => {
    const workspace = await findWorkspace(tx, id);
    const all = { featureTables: tables, rows };
    const isGone = await purgeSession(tx, id, before(tx.now), all);
    if (isGone && workspace) tx.afterCommit(() => engine.announcer.tidy(workspace.runner_id));
  });
}
