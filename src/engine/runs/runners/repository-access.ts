/**
 * Gives the runner that holds a run access to its session's repository. The holder is looked up in
 * the rows, not in the memory of a connection: the access is a secret, and must not go to a machine
 * that has lost the run.
 */

import type { RepositoryOpener } from "#engine/feature.ts";
import type { RunnerRow, RunRow } from "#engine/schema.ts";
import { findSession } from "#engine/sessions/queries.ts";
import { isHeldState } from "#engine/transitions/run-transitions.ts";
import type { Engine } from "#engine/work.ts";
import type { RepositoryAccess } from "#protocol/workspaces.ts";
import { findRun } from "../queries.ts";

export type OpenedRepository = { access: RepositoryAccess | null } | { lost: true };

export async function openRepository(
  engine: Engine,
  openers: readonly RepositoryOpener[],
  runner: Pick<RunnerRow, "id" | "scope">,
  { run: runId, fence }: { run: string; fence: number },
): Promise<OpenedRepository> {
  const session = await engine.store.read(async (reader) => {
    const run = await findRun(reader, runId);
    if (!run || !isHeldBy(run, runner.id, fence)) return undefined;
    return findSession(reader, run.session_id);
  });
  if (!session) return { lost: true };
  if (session.repo === null) return { access: null };
  for (const open of openers) {
    const access = await open(engine, session, runner);
    if (access) return { access };
  }
  return { access: null };
}

function isHeldBy(run: RunRow, runnerId: string, fence: number): boolean {
  const isHeld = isHeldState(run.state);
  return isHeld && run.lease_until !== null && run.runner_id === runnerId && run.fence === fence;
}
