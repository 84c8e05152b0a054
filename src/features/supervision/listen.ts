/**
 * Places a new worker in its supervisor's project, and checks the rules of supervisor mode for it, by
 * any route: the server has the mode, the parent's owner enabled it, and the worker stays in the
 * parent's project.
 */

import type { Listener, SessionRow } from "#engine/index.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import { ROLE, refuse, requireOpen, type SupervisionSettings } from "./gates.ts";

type Settings = Pick<SupervisionSettings, "disabledReason">;

export function createListener(settings: Settings): Listener {
  return async (work, event) => {
    if (event.type !== "session_making" && event.type !== "session_created") return;
    const { row } = event.session;
    if (row.parent_session_id === null) return;
    const parent = (await work.session(row.parent_session_id))?.row;
    if (!parent || isOrchestrator(parent)) return;
    if (event.type === "session_making") joinProject(row, parent);
    else if (!event.requested.callback) requireWorker(settings, row, parent);
  };
}

function requireWorker(settings: Settings, worker: SessionRow, parent: SessionRow): void {
  requireOpen(settings);
  if (parent.role !== ROLE) throw refuse("supervisor_mode_off");
  if (!isSameProject(worker, parent)) throw refuse("different_project");
}

/** A worker works in its supervisor's project, unless its caller names one. */
function joinProject(worker: SessionRow, parent: SessionRow): void {
  const isNamed = worker.repo !== null || worker.project_dir !== null;
  if (isNamed || parent.role !== ROLE) return;
  worker.repo = parent.repo;
  worker.may_use_path = parent.may_use_path;
  worker.branch ??= parent.branch;
  worker.project_dir = parent.repo === null ? parent.project_dir : null;
}

function isSameProject(worker: SessionRow, { repo, project_dir }: SessionRow): boolean {
  if (repo !== null) return worker.repo === repo;
  return worker.repo === null && worker.project_dir === project_dir;
}
