/** Routes of supervisor mode, for its page and API clients, never for agents. */
import type { Reader } from "#base/store/index.ts";
import {
  command,
  may,
  type Principal,
  principalKey,
  type Route,
  type RouteRequest,
  requireMay,
  type SessionWriter,
  serve,
  sessionResource,
  type Work,
} from "#engine/index.ts";
import {
  changeLifecycle,
  findSession,
  readContext,
  requireReadable,
} from "#engine/sessions/index.ts";
import {
  clearInbox,
  detachByPerson,
  endChild,
  type LinkRow,
  type OrchestrationAction,
  readInbox,
  recordOrchestration,
} from "#features/delegation/index.ts";
import { supervisionApi } from "./contract.ts";
import {
  ROLE,
  refuse,
  requireOpen,
  requireOwn,
  requireSupervisor,
  requireWorker,
  type SupervisionSettings,
} from "./gates.ts";
import { disableSupervisor, enableSupervisor } from "./switch.ts";
import { configView, listWorkers, roleView, workerView } from "./views.ts";

export function supervisionRoutes(settings: SupervisionSettings): readonly Route[] {
  return [...readRoutes(settings), ...switchRoutes(settings), ...workerRoutes(settings)];
}

/**
 * Reads a list for the owner of the session and for its own agent. An admin with access to the
 * session is refused, because the workers' content was not opened to them. A session without the
 * mode gets an empty list, so that a page reading it while the mode is being disabled sees no
 * error.
 */
async function readSupervised<T>(
  reader: Reader,
  principal: Principal,
  id: string,
  read: (reader: Reader, id: string) => Promise<T[]>,
): Promise<{ items: T[] }> {
  const row = await findSession(reader, id);
  if (row === undefined || !may(principal, "session.read", sessionResource(row)))
    throw refuse("supervisor_not_found");
  return { items: row.role === ROLE ? await read(reader, id) : [] };
}

function readRoutes(settings: SupervisionSettings): Route[] {
  return [
    serve(supervisionApi.getConfig, async ({ principal }) => {
      requireMay(principal, "session.read");
      return configView(settings);
    }),
    serve(supervisionApi.get, async ({ engine, principal, params }) => {
      requireOpen(settings);
      return engine.store.read(async (reader) => {
        const found = await findSession(reader, params.id);
        const { session } = await requireReadable(reader, principal, found, engine.clock.now());
        return roleView(reader, session);
      });
    }),
    serve(supervisionApi.listWorkers, async ({ engine, principal, params }) => {
      requireOpen(settings);
      return engine.store.read((reader) =>
        readSupervised(reader, principal, params.id, (at, id) =>
          listWorkers(readContext(engine, at), id),
        ),
      );
    }),
    serve(supervisionApi.readInbox, async ({ engine, principal, params }) => {
      requireOpen(settings);
      return engine.store.read((reader) => readSupervised(reader, principal, params.id, readInbox));
    }),
  ];
}

function switchRoutes(settings: SupervisionSettings): Route[] {
  return [
    serve(supervisionApi.enable, async ({ engine, principal, params }) => {
      requireOpen(settings);
      return command(engine, async (work) => {
        const session = await requireOwn(work, principal, params.id);
        await enableSupervisor(work, session, principal);
        return roleView(work.tx, session.row);
      });
    }),
    serve(supervisionApi.disable, async ({ engine, principal, params }) => {
      requireOpen(settings);
      return command(engine, async (work) => {
        const session = await requireSupervisor(work, principal, params.id);
        await disableSupervisor(work, session, principal);
        return roleView(work.tx, session.row);
      });
    }),
    serve(supervisionApi.clearInbox, async ({ engine, principal, params }) => {
      requireOpen(settings);
      return command(engine, async (work) => {
        const session = await requireSupervisor(work, principal, params.id);
        const cleared = await clearInbox(work, session);
        await recordOrchestration(work, session.row, {
          action: "inbox_cleared",
          by: principalKey(principal),
        });
        return { cleared };
      });
    }),
  ];
}

/** Worker of a person's supervisor, locked for a change. */
interface WorkerChange {
  worker: SessionWriter;
  link: LinkRow;
  /** Adds an entry to the audit trail. */
  note(action: OrchestrationAction): Promise<void>;
}

type WorkerRequest = Pick<RouteRequest, "engine" | "principal"> & {
  params: { readonly id: string; readonly workerId: string };
};

async function changeWorker<T>(
  settings: SupervisionSettings,
  { engine, principal, params: { id, workerId } }: WorkerRequest,
  change: (work: Work, found: WorkerChange) => Promise<T>,
): Promise<T> {
  requireOpen(settings);
  return command(engine, async (work) => {
    const supervisor = await requireSupervisor(work, principal, id);
    const { worker, link } = await requireWorker(work, principal, supervisor, workerId);
    const by = principalKey(principal);
    return change(work, {
      worker,
      link,
      note: (action) =>
        recordOrchestration(work, supervisor.row, { action, by, childId: workerId }),
    });
  });
}

function workerRoutes(settings: SupervisionSettings): Route[] {
  return [
    serve(supervisionApi.detachWorker, (request) =>
      changeWorker(settings, request, async (work, { worker, link, note: leave }) => {
        await leave("worker_detached");
        await detachByPerson(work, worker, link);
        return { workerId: worker.row.id, detached: true as const };
      }),
    ),
    serve(supervisionApi.killWorker, (request) =>
      changeWorker(settings, request, async (work, { worker, link, note: leave }) => {
        await endChild(work, worker, link, "archived");
        await leave("worker_killed");
        return { worker: await workerView(work.context, worker.row, link) };
      }),
    ),
    serve(supervisionApi.resumeWorker, (request) =>
      changeWorker(settings, request, async (work, { worker, link, note: leave }) => {
        if (worker.row.lifecycle === "terminated")
          throw refuse("worker_not_live", "This worker was terminated. Spawn another.");
        await changeLifecycle(work, worker, "active");
        await leave("worker_resumed");
        return { worker: await workerView(work.context, worker.row, link) };
      }),
    ),
  ];
}
