/**
 * Purges sessions for good, with everything that hangs on them: archived ones when their time is over,
 * and those of somebody whose data is to be removed. Work is done in steps of a bounded number of rows,
 * each a transaction of its own; a step that finds the database busy asks for a longer pause.
 */
import { eachApart } from "#engine/each-apart.ts";
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
  type PurgePlace,
  purgeBulk,
  purgeSession,
} from "./purge-queries.ts";

/** Sessions looked up at once. */
const BATCH = 20;
/** Rows of one step where nothing is measured. */
const FEW_ROWS = 50;
const START: PurgePlace = { at: 0, id: "" };
/** Delay before the removal of a session is tried again after a failure. */
const FAILED_AGAIN_MS = 10 * 60_000;

export interface Purger {
  /**
   * Does one step of what is due, and of what is half removed. Returns the pause before the next step,
   * in ms; undefined when nothing is due. `before`: when a session must have been archived, as of now,
   * or as of the database's clock when that one is given.
   */
  step(before: (now?: number) => number): Promise<number | undefined>;
}

/** `tables`: of features, whose rows hang on a session. */
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
 * Walks a list of sessions again and again, some at a time. One whose removal failed is left out for
 * a while, so that it keeps neither the others nor the rest of housekeeping waiting.
 */
function createWorklist(
  { clock }: Engine,
  list: (after: PurgePlace) => Promise<readonly PurgePlace[]>,
) {
  const instant = () => clock.steady?.() ?? clock.now();
  /** Sessions that failed, and when they are tried again. */
  const failed = new Map<string, number>();
  let place = START;
  let waiting: PurgePlace[] = [];
  return {
    /** Undefined at the end of the list; it begins anew with the next call. */
    async next(): Promise<PurgePlace | undefined> {
      while (waiting.length === 0) {
        const some = await list(place);
        place = some.at(-1) ?? START;
        if (some.length === 0) return undefined;
        waiting = some.filter(({ id }) => (failed.get(id) ?? 0) <= instant());
      }
      return waiting.shift();
    },
    goOnWith(one: PurgePlace): void {
      waiting.unshift(one);
    },
    async attempt<T>({ id }: PurgePlace, act: () => Promise<T>): Promise<T> {
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

/** Deletes some of what is left of a session. `isOver`: nothing is left, or another server does it. */
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

/** Everything that a purged session of this id has left, however much: for a new session of the same id. */
export async function finishPurge(work: Work, id: string): Promise<void> {
  // Whoever is at it now must be done: rows of the new session would look like what is left of the old.
  if (!(await lockRemains(work.tx, id, { waits: true }))) return;
  while (!(await purgeBulk(work.tx, id, work.sessionTables, FEW_ROWS)));
  await dropRemains(work.tx, id);
}

/**
 * Ends and removes some of a person's sessions. True when there is none left; a session whose turn
 * still winds down is there in the next round.
 */
export async function purgeSessionsOf(
  engine: Engine,
  { orgId, userId }: { orgId: string; userId: string },
  tables: readonly string[],
): Promise<boolean> {
  const some = await engine.store.read((reader) => listOwnedSessions(reader, orgId, userId, BATCH));
  await eachApart(some, async ({ id }) => {
    await command(engine, async (work) => {
      const session = await work.family(id);
      if (session && session.row.lifecycle !== "terminated") await terminateTree(work, session);
    });
    const all = { tables, rows: FEW_ROWS };
    await removeSession(engine, id, () => Number.POSITIVE_INFINITY, all);
  });
  const remains = await engine.store.read((reader) => listRemainsOf(reader, orgId, userId, BATCH));
  await eachApart(remains, async ({ session_id: id }) => {
    while (!(await purgeRemains(engine, id, tables, FEW_ROWS)).isOver);
  });
  return some.length === 0 && remains.length === 0;
}

/** One that has ended goes now. The command that does it must not have it in its hands. */
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

/** The machine that holds its files hears of it, and removes them. */
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
