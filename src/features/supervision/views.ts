/** Views of supervisors and their workers. */
import type { Reader } from "#base/store/index.ts";
import type { SessionRow } from "#engine/index.ts";
import { findSession, type ReadContext } from "#engine/sessions/index.ts";
import {
  addUpChildren,
  type Child,
  countLiveChildren,
  countPendingEvents,
  describeChild,
  findLink,
  type LinkRow,
  listNewestLinks,
} from "#features/delegation/index.ts";
import {
  type OrchestrationConfig,
  type OrchestrationRole,
  SUPERVISOR_TOOLS,
  type Worker,
} from "./contract.ts";
import { ROLE, type SupervisionSettings } from "./gates.ts";
import { mayLead } from "./switch.ts";

const LISTED = 100;

export function configView(settings: SupervisionSettings): OrchestrationConfig {
  const { disabledReason, workersPerSupervisor, maxDepth } = settings;
  const available = disabledReason === null;
  return {
    available,
    disabledReason,
    maxWorkersPerSupervisor: workersPerSupervisor,
    maxDepth,
    tools: available ? [...SUPERVISOR_TOOLS] : [],
  };
}

export async function roleView(reader: Reader, row: SessionRow): Promise<OrchestrationRole> {
  const { id, parent_session_id: parentId, role } = row;
  const parent = parentId === null ? undefined : await findSession(reader, parentId);
  // Orchestrators and callers of callback runs have children too, but do not supervise them.
  const leader = parent?.role === ROLE ? parent : undefined;
  const link = leader && (await findLink(reader, id));
  const leads = parentId === null && role === ROLE;
  return {
    sessionId: id,
    role: leader ? "worker" : leads ? "supervisor" : "standalone",
    supervisorId: leader?.id ?? null,
    supervisorName: leader?.title ?? null,
    handoff: link?.handoff === 1,
    mayEnable: !leads && mayLead({ row }),
    workers: leads ? (await addUpChildren(reader, id)).count : 0,
    liveWorkers: leads ? await countLiveChildren(reader, id) : 0,
    pending: leads ? await countPendingEvents(reader, id) : 0,
  };
}

/** Lists the newest workers, oldest first; those that ended long ago are left out. */
export async function listWorkers(context: ReadContext, supervisorId: string): Promise<Worker[]> {
  const { reader } = context;
  const workers: Worker[] = [];
  const newest = await listNewestLinks(reader, supervisorId, LISTED);
  for (const link of newest.reverse()) {
    const row = await findSession(reader, link.session_id);
    if (row) workers.push(await workerView(context, row, link));
  }
  return workers;
}

export async function workerView(
  context: ReadContext,
  row: SessionRow,
  { handoff }: Pick<LinkRow, "handoff">,
): Promise<Worker> {
  return { ...fieldsOf(await describeChild(context, row)), handoff: handoff === 1 };
}

function fieldsOf(child: Child): Omit<Worker, "handoff"> {
  const { sessionId, title, status: _status, repo: _repo, ...rest } = child;
  return { workerId: sessionId, name: title ?? sessionId, ...rest };
}
