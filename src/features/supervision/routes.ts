/** Supervisor mode over HTTP: for its page and for people's own programs, never for agents. */
import * as z from "zod";
import type { Reader } from "#base/store/index.ts";
import {
  command,
  defineRoute,
  may,
  type Principal,
  principalKey,
  type Route,
  requireMay,
  type SessionWriter,
  sessionThing,
  type Work,
} from "#engine/index.ts";
import { changeLifecycle, findSession, requireReadable } from "#engine/sessions/index.ts";
import {
  clearInbox,
  detachByPerson,
  endChild,
  inboxItemSchema,
  type LinkRow,
  note,
  type OrchestrationAction,
  readInbox,
} from "#features/delegation/index.ts";
import {
  clearedSchema,
  detachedSchema,
  orchestrationConfigSchema,
  orchestrationRoleSchema,
  workerSchema,
} from "./contract.ts";
import {
  refuse,
  requireOpen,
  requireOwn,
  requireSupervisor,
  requireWorker,
  type SupervisionSettings,
} from "./gates.ts";
import { disableSupervisor, enableSupervisor } from "./switch.ts";
import { configView, listWorkers, roleView, workerView } from "./views.ts";

const TAG = "Orchestration";
const SESSION = "/api/orchestration/sessions/{id}";
const WORKER = `${SESSION}/workers/{workerId}`;
const oneWorker = z.object({ worker: workerSchema });

export function supervisionRoutes(settings: SupervisionSettings): readonly Route[] {
  return [...readRoutes(settings), ...switchRoutes(settings), ...workerRoutes(settings)];
}

/**
 * Whoever the session belongs to, and its own agent. Not an admin it was opened to: what its workers
 * say is theirs, and they were not opened. A session that leads nobody has lists too, empty ones: a
 * page that reads them while supervisor mode is being switched off has done nothing wrong.
 */
async function readLed<T>(
  reader: Reader,
  principal: Principal,
  id: string,
  read: (reader: Reader, id: string) => Promise<T[]>,
): Promise<{ items: T[] }> {
  const row = await findSession(reader, id);
  if (row === undefined || !may(principal, "session.read", sessionThing(row)))
    throw refuse("supervisor_not_found");
  return { items: row.supervisor === 1 ? await read(reader, id) : [] };
}

function readRoutes(settings: SupervisionSettings): Route[] {
  return [
    defineRoute({
      method: "get",
      path: "/api/orchestration/config",
      summary: "Whether this server has supervisor mode, and its limits",
      tag: TAG,
      response: orchestrationConfigSchema,
      async handle({ principal }) {
        requireMay(principal, "session.read");
        return configView(settings);
      },
    }),
    defineRoute({
      method: "get",
      path: SESSION,
      summary: "What a session is among others: supervisor, worker or standalone",
      tag: TAG,
      response: orchestrationRoleSchema,
      async handle({ engine, principal, params }) {
        requireOpen(settings);
        return engine.store.read(async (reader) => {
          const found = await findSession(reader, params.id ?? "");
          const { session } = await requireReadable(reader, principal, found, engine.clock.now());
          return roleView(reader, session);
        });
      },
    }),
    defineRoute({
      method: "get",
      path: `${SESSION}/workers`,
      summary: "The workers of a supervisor, with their state",
      tag: TAG,
      response: z.object({ items: z.array(workerSchema) }),
      async handle({ engine, principal, params }) {
        requireOpen(settings);
        return engine.store.read((reader) =>
          readLed(reader, principal, params.id ?? "", (at, id) =>
            listWorkers(at, id, engine.clock.now()),
          ),
        );
      },
    }),
    defineRoute({
      method: "get",
      path: `${SESSION}/inbox`,
      summary: "All that a supervisor was told and is to be told, newest first",
      tag: TAG,
      response: z.object({ items: z.array(inboxItemSchema) }),
      async handle({ engine, principal, params }) {
        requireOpen(settings);
        return engine.store.read((reader) =>
          readLed(reader, principal, params.id ?? "", readInbox),
        );
      },
    }),
  ];
}

function switchRoutes(settings: SupervisionSettings): Route[] {
  return [
    defineRoute({
      method: "post",
      path: `${SESSION}/enable`,
      summary: "Make the session a supervisor; a turn that runs goes on",
      tag: TAG,
      response: orchestrationRoleSchema,
      async handle({ engine, principal, params }) {
        requireOpen(settings);
        return command(engine, async (work) => {
          const session = await requireOwn(work, principal, params.id ?? "");
          await enableSupervisor(work, session, principal);
          return roleView(work.tx, session.row);
        });
      },
    }),
    defineRoute({
      method: "post",
      path: `${SESSION}/disable`,
      summary: "End supervisor mode: workers are detached and live on, the inbox is cleared",
      tag: TAG,
      response: orchestrationRoleSchema,
      async handle({ engine, principal, params }) {
        requireOpen(settings);
        return command(engine, async (work) => {
          const session = await requireSupervisor(work, principal, params.id ?? "");
          await disableSupervisor(work, session, principal);
          return roleView(work.tx, session.row);
        });
      },
    }),
    defineRoute({
      method: "post",
      path: `${SESSION}/inbox/clear`,
      summary: "Wipe a supervisor's inbox, also what it was not told yet",
      tag: TAG,
      response: clearedSchema,
      async handle({ engine, principal, params }) {
        requireOpen(settings);
        return command(engine, async (work) => {
          const session = await requireSupervisor(work, principal, params.id ?? "");
          const cleared = await clearInbox(work, session);
          await note(work, session.row, {
            action: "inbox_cleared",
            by: principalKey(principal),
          });
          return { cleared };
        });
      },
    }),
  ];
}

/** What a person does to one worker of one supervisor of theirs. */
interface Deed {
  worker: SessionWriter;
  link: LinkRow;
  /** Leaves a line in the trail. */
  note(action: OrchestrationAction): Promise<void>;
}

function workerRoute<T>(
  settings: SupervisionSettings,
  {
    act,
    ...spec
  }: Pick<Route, "path" | "summary" | "response"> & {
    act(work: Work, deed: Deed): Promise<T>;
  },
): Route {
  return defineRoute({
    method: "post",
    ...spec,
    tag: TAG,
    async handle({ engine, principal, params }) {
      requireOpen(settings);
      const { id = "", workerId = "" } = params;
      return command(engine, async (work) => {
        const supervisor = await requireSupervisor(work, principal, id);
        const { worker, link } = await requireWorker(work, principal, supervisor, workerId);
        const by = principalKey(principal);
        return act(work, {
          worker,
          link,
          note: (action) => note(work, supervisor.row, { action, by, childId: workerId }),
        });
      });
    },
  });
}

function workerRoutes(settings: SupervisionSettings): Route[] {
  return [
    workerRoute(settings, {
      path: `${WORKER}/detach`,
      summary: "Take a worker out of its supervisor's hands; the supervisor is told",
      response: detachedSchema,
      async act(work, { worker, link, note: leave }) {
        await leave("worker_detached");
        await detachByPerson(work, worker, link);
        return { workerId: worker.row.id, detached: true as const };
      },
    }),
    workerRoute(settings, {
      path: `${WORKER}/kill`,
      summary: "End a worker for its supervisor, which is not told; it is kept for a week",
      response: oneWorker,
      async act(work, { worker, link, note: leave }) {
        await endChild(work, worker, link, "archived");
        await leave("worker_killed");
        return { worker: await workerView(work.tx, worker.row, link, work.now) };
      },
    }),
    workerRoute(settings, {
      path: `${WORKER}/resume`,
      summary: "Bring a cold worker back, if its supervisor has a place for it",
      response: oneWorker,
      async act(work, { worker, link, note: leave }) {
        if (worker.row.lifecycle === "terminated")
          throw refuse("worker_not_live", "This worker has ended for good. Spawn another.");
        await changeLifecycle(work, worker, "active");
        await leave("worker_resumed");
        return { worker: await workerView(work.tx, worker.row, link, work.now) };
      },
    }),
  ];
}
