/**
 * Sessions that go for good, with everything that hangs on them: archived ones after a week, and
 * those of somebody whose data is to be removed.
 */
import { eachApart } from "../each-apart.ts";
import { command, type Engine, type Work } from "../work.ts";
import { findWorkspace } from "../workspaces/queries.ts";
import { terminateTree } from "./lifecycle.ts";
import { dropEvents, listOwnedSessions, listPurgeable, purgeSession } from "./purge-queries.ts";
import { findSession } from "./queries.ts";

export const ARCHIVE_KEPT_MS = 7 * 24 * 60 * 60_000;
const BATCH = 20;
const EVENTS_AT_ONCE = 5_000;

/** `tables`: of features, whose rows hang on a session. */
export async function purgeArchived(
  engine: Engine,
  now: number,
  tables: readonly string[],
): Promise<number> {
  const due = await engine.store.read((reader) =>
    listPurgeable(reader, now - ARCHIVE_KEPT_MS, BATCH),
  );
  for (const id of due) await removeSession(engine, id, now - ARCHIVE_KEPT_MS, tables);
  return due.length;
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
    const lastSeq = await command(engine, async (work) => {
      const session = await work.family(id);
      if (session && session.row.lifecycle !== "terminated") await terminateTree(work, session);
      return session?.row.run_state === null ? session.row.last_seq : 0;
    });
    for (let through = EVENTS_AT_ONCE; through < lastSeq; through += EVENTS_AT_ONCE)
      await engine.store.transaction((tx) => dropEvents(tx, id, through));
    await removeSession(engine, id, Number.POSITIVE_INFINITY, tables);
  });
  return some.length === 0;
}

/** One that has ended goes now. The command that does it must not have it in its hands. */
export async function purgeEnded(work: Work, id: string): Promise<"gone" | "busy" | "not_ended"> {
  const session = await findSession(work.tx, id);
  const workspace = await findWorkspace(work.tx, id);
  if (session?.archived_at === null) return "not_ended";
  if (!(await purgeSession(work.tx, id, Number.POSITIVE_INFINITY, work.sessionTables)))
    return session ? "busy" : "gone";
  if (workspace) work.tx.afterCommit(() => work.announcer.tidy(workspace.runner_id));
  return "gone";
}

/** The machine that holds its files hears of it, and removes them. */
async function removeSession(
  { store, announcer }: Engine,
  id: string,
  before: number,
  tables: readonly string[],
): Promise<void> {
  await store.transaction(async (tx) => {
    const workspace = await findWorkspace(tx, id);
    if (!(await purgeSession(tx, id, before, tables)) || !workspace) return;
    tx.afterCommit(() => announcer.tidy(workspace.runner_id));
  });
}
