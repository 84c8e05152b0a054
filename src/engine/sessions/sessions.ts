/** Sessions as their callers use them: the permission, the command and the answer of each action. */
import { notFound, Refusal } from "#base/refusal.ts";
import { cleanText } from "#base/text/clean-text.ts";
import type { Page } from "#protocol/page.ts";
import type { QueueMode, Session } from "#protocol/sessions.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import { findRepeated, type IdempotentRequest } from "../requests/idempotency.ts";
import {
  may,
  type Principal,
  principalKey,
  requireMay,
  sessionResource,
} from "../requests/principal.ts";
import {
  type ChildrenFate,
  command,
  type Engine,
  type KeptFields,
  type SessionWriter,
  type Work,
} from "../work.ts";
import { relocateSession } from "../workspaces/relocate.ts";
import { withBindings } from "./bindings.ts";
import { createSession } from "./create-session.ts";
import { describeSession } from "./describe-session.ts";
import { changeLifecycle, endSession, stopTurns, terminateTree } from "./lifecycle/lifecycle.ts";
import { redactEntry } from "./log/redact-entry.ts";
import { clearContext } from "./prompts/clear-context.ts";
import { admitFrom } from "./prompts/prompts.ts";
import { findSession } from "./queries.ts";
import type { SessionDefaults } from "./session-defaults.ts";
import { createSessionReads, type SessionQuery } from "./session-reads.ts";
import { newSession, type SessionRequest } from "./session-request.ts";
import { stopTurn } from "./turns/stop-turn.ts";

export interface SessionChange extends Pick<KeptFields, "enableMemory"> {
  title?: string | null | undefined;
  queueMode?: QueueMode | undefined;
  model?: string | null | undefined;
  instructions?: string | null | undefined;
  /** Budget in micro-units; null for none. */
  budget?: number | null | undefined;
}

export interface StoppedTurns {
  session: Session;
  /** Prompts whose turns were told to end. */
  stopped: string[];
}

export function createSessions(engine: Engine, defaults: SessionDefaults) {
  /** Makes a change and answers with the changed session. */
  async function change(
    principal: Principal,
    id: string,
    make: (work: Work, session: SessionWriter) => Promise<unknown>,
  ): Promise<Session> {
    const changed = await command(engine, async (work) => {
      const session = await requireManaged(work, principal, id);
      await make(work, session);
      return describeSession(work.context, session.row);
    });
    return bound(changed);
  }

  const reads = createSessionReads(engine);
  const bound = async (session: Session) => (await withBindings(engine, [session]))[0] as Session;

  return {
    ...reads,
    get: async (principal: Principal, id: string) => bound(await reads.get(principal, id)),
    async list(principal: Principal, query: SessionQuery): Promise<Page<Session>> {
      const page = await reads.list(principal, query);
      return { ...page, items: await withBindings(engine, page.items) };
    },

    create: (
      principal: Principal,
      request: SessionRequest,
      idempotent?: IdempotentRequest,
    ): Promise<Session> => createFrom(engine, defaults, principal, request, idempotent).then(bound),

    update: (principal: Principal, id: string, requested: SessionChange) =>
      change(principal, id, async (work, session) => {
        if (requested.budget !== undefined) requirePerson(principal);
        const before = { ...session.row };
        applyChange(session, requested);
        const fields = Object.keys(requested);
        await work.emit({ type: "session_changed", session, fields, kept: requested, before });
      }),

    /** Ends the turn of this prompt; without a prompt, the running turn. Queued prompts stay. */
    stop: (principal: Principal, id: string, promptId?: string): Promise<StoppedTurns> =>
      command(engine, async (work) => {
        const session = await requireManaged(work, principal, id);
        const stopped = await stopTurn(work, session, promptId);
        return { session: await describeSession(work.context, session.row), stopped };
      }),
    /** Ends every running turn, however soon after another stop. */
    stopAll: (principal: Principal, id: string) => change(principal, id, stopTurns),
    hibernate: (principal: Principal, id: string) =>
      change(principal, id, (work, session) =>
        endSession(work, session, { to: "hibernated", force: false }),
      ),
    wake: (principal: Principal, id: string) =>
      change(principal, id, (work, session) => changeLifecycle(work, session, "active")),
    archive: (principal: Principal, id: string, force: boolean, children?: ChildrenFate) =>
      change(principal, id, async (work, session) => {
        if (session.row.lifecycle === "archived" || session.row.lifecycle === "terminated") return;
        await endSession(work, session, { to: "archived", force, children });
      }),
    /** Removes an entry's words from the log; see `redact-entry.ts`. */
    redact: (principal: Principal, id: string, entryId: string) =>
      redactEntry(engine, principal, id, entryId),
    /** Continues the session on another machine, while the one that holds its files is gone. */
    relocate: (principal: Principal, id: string) => change(principal, id, relocateSession),
    terminate: (principal: Principal, id: string) => change(principal, id, terminateTree),
    clear: (principal: Principal, id: string, thread: string) =>
      change(principal, id, (work, session) => clearContext(work, session, thread)),
  };
}

async function requireManaged(
  work: Work,
  principal: Principal,
  id: string,
): Promise<SessionWriter> {
  const session = await work.sessionWithParent(id);
  if (session && may(principal, "session.manage", sessionResource(session.row))) return session;
  throw notFound("session");
}

/** An agent must not raise its own budget, or that of its child. */
function requirePerson({ kind }: Principal): void {
  if (kind === "user") return;
  throw new Refusal(
    "forbidden",
    "people_only",
    "Only a person may change a budget. Ask the owner of the session.",
  );
}

function applyChange(session: SessionWriter, requested: SessionChange): void {
  const { row } = session;
  const clean = (text: string | null) => (text === null ? null : cleanText(text));
  if (requested.title !== undefined) row.title = clean(requested.title);
  if (requested.queueMode !== undefined) row.queue_mode = requested.queueMode;
  if (requested.model !== undefined) row.model = clean(requested.model);
  if (requested.instructions !== undefined) row.instructions = clean(requested.instructions);
  if (requested.budget !== undefined) row.budget_micros = requested.budget;
  const fields = Object.keys(requested);
  session.record({ type: "session_updated", reason: "changed", data: { fields } });
}

function createFrom(
  engine: Engine,
  defaults: SessionDefaults,
  principal: Principal,
  request: SessionRequest,
  idempotent: IdempotentRequest | undefined,
): Promise<Session> {
  requireMay(principal, "session.create");
  const { ids } = engine;
  const id = ids.mint("ses");
  const first = {
    id: ids.mint("pmt"),
    runId: ids.mint("run"),
    thread: MAIN_THREAD,
    attachments: [],
  };
  return command(engine, async (work) => {
    const repeated = await findRepeated(work, principalKey(principal), idempotent, id);
    const earlier = repeated === undefined ? undefined : await findSession(work.tx, repeated);
    if (earlier) return describeSession(work.context, earlier);
    const asked = await newSession(work, principal, id, request, defaults);
    const session = await createSession(work, asked);
    if (request.prompt !== undefined) {
      await admitFrom(work, session, principal, { ...first, content: request.prompt });
    }
    return describeSession(work.context, session.row);
  });
}
