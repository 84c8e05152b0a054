/**
 * Ties a session that works in a folder to a machine with that folder, before it has files of its
 * own there.
 */

import type { SessionRow } from "#engine/schema.ts";
import { findSession } from "#engine/sessions/queries.ts";
import type { Work } from "#engine/work.ts";
import type { RunnerRequirements } from "#protocol/runs.ts";
import { capabilitiesOf, wasSeenLately } from "../runners/runner-capabilities.ts";
import { listRunners } from "../runners/runner-queries.ts";
import { fits, sessionRequirements } from "./fit.ts";

/**
 * Requirements of a session in a folder. Two machines may have different folders of one name. So a
 * child in its parent's folder goes to the parent's machine, and a session in a granted
 * folder to a runner that registered it. Without such a runner nothing is required: a runner that
 * registered no folder opens any granted one.
 */
export async function folderRequirements(work: Work, row: SessionRow): Promise<RunnerRequirements> {
  if (row.project_dir === null) return {};
  const hostname = await parentsHost(work, row);
  // A folder that nobody granted is one that a runner registered.
  if (hostname !== null)
    return row.may_use_path === 1 ? { hostname } : { hostname, projectDir: row.project_dir };
  return row.may_use_path === 1 ? registeredFolder(work, row, row.project_dir) : {};
}

async function parentsHost({ tx }: Work, row: SessionRow): Promise<string | null> {
  if (row.parent_session_id === null) return null;
  const parent = await findSession(tx, row.parent_session_id);
  return parent?.project_dir === row.project_dir ? parent.hostname : null;
}

/** Runners that may not take the session, or were not seen for long, must not make it wait. */
async function registeredFolder(
  work: Work,
  row: SessionRow,
  projectDir: string,
): Promise<RunnerRequirements> {
  const requirements = {
    orgId: row.org_id,
    ownerId: row.owner_id,
    runtime: row.runtime,
    demands: { ...sessionRequirements(row), projectDir },
    pinnedRunnerId: null,
  };
  const runners = await listRunners(work.tx, row.org_id);
  const hasIt = runners.some(
    (runner) => wasSeenLately(runner, work.now) && fits(capabilitiesOf(runner), requirements),
  );
  return hasIt ? { projectDir } : {};
}
