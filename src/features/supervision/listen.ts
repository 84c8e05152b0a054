/**
 * Checks the rules of supervisor mode for every new worker, by any route: the server has the mode,
 * the parent's owner enabled it, and the worker stays in the parent's project.
 */

import type { Listener, SessionRow } from "#engine/index.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import { refuse, requireOpen, type SupervisionSettings } from "./gates.ts";

export function createListener(settings: Pick<SupervisionSettings, "disabledReason">): Listener {
  return async (work, event) => {
    if (event.type !== "session_created" || event.asked.callback) return;
    const { row } = event.session;
    if (row.parent_session_id === null) return;
    const parent = (await work.session(row.parent_session_id))?.row;
    if (!parent || isOrchestrator(parent)) return;
    requireOpen(settings);
    if (parent.supervisor !== 1) throw refuse("supervisor_mode_off");
    if (!isSameProject(row, parent)) throw refuse("different_project");
  };
}

function isSameProject(worker: SessionRow, { repo, project_dir }: SessionRow): boolean {
  if (repo !== null) return worker.repo === repo;
  return worker.repo === null && worker.project_dir === project_dir;
}
