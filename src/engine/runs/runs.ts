/** Runs as their callers use them: the programmatic interface beside the conversational one. */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import type { Page } from "#protocol/page.ts";
import type { ExecutionMode, Run, RunnerRequirements, RunType } from "#protocol/runs.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import { decodeCursor, pageOf } from "../requests/cursor.ts";
import { findRepeated, type IdempotentRequest } from "../requests/idempotency.ts";
import {
  type Action,
  may,
  type Principal,
  principalKey,
  requireMay,
  sessionResource,
} from "../requests/principal.ts";
import type { RunRow } from "../schema.ts";
import { createSession } from "../sessions/create-session.ts";
import { withdrawPrompt } from "../sessions/prompts/change-queue.ts";
import { findPrompt, findPromptByRun } from "../sessions/prompts/prompt-queries.ts";
import { admitFrom } from "../sessions/prompts/prompts.ts";
import { findSession } from "../sessions/queries.ts";
import { requireReadable } from "../sessions/session-access.ts";
import type { SessionDefaults } from "../sessions/session-defaults.ts";
import { newSession } from "../sessions/session-request.ts";
import { cutTurn } from "../sessions/turns/cut-turn.ts";
import { command, type Engine, type SessionWriter, type Work } from "../work.ts";
import { findRun } from "./queries.ts";
import { listRuns } from "./session-run-queries.ts";
import { runView, waitingRunView } from "./views.ts";

export interface RunRequest {
  type: RunType;
  sessionId?: string | undefined;
  agentName?: string | undefined;
  prompt: string;
  title?: string | undefined;
  runtime?: string | undefined;
  model?: string | undefined;
  projectDir?: string | undefined;
  parentSessionId?: string | undefined;
  executionMode: ExecutionMode;
  demands: RunnerRequirements;
}

const LIST = "runs";

export function createRuns(engine: Engine, defaults: SessionDefaults) {
  const { store, ids, clock } = engine;

  const readable = (principal: Principal, id: string): Promise<Run> =>
    store.read((reader) => readRun(reader, principal, id, clock.now()));

  return {
    create(
      principal: Principal,
      request: RunRequest,
      idempotent?: IdempotentRequest,
    ): Promise<Run> {
      requireMay(principal, "session.create");
      const fresh = { session: ids.mint("ses"), prompt: ids.mint("pmt"), run: ids.mint("run") };
      return command(engine, async (work) => {
        const repeated = await findRepeated(
          work,
          principalKey(principal),
          idempotent,
          fresh.prompt,
        );
        const earlier = repeated === undefined ? undefined : await findPrompt(work.tx, repeated);
        const session = earlier
          ? await writable(work, principal, earlier.session_id, "session.read")
          : await sessionFor(work, principal, fresh.session, request, defaults);
        if (!earlier) requireCallbackParent(session, request);
        const prompt =
          earlier ?? (await admitFrom(work, session, principal, promptOf(fresh, request))).prompt;
        const row = await findRun(work.tx, prompt.run_id);
        return row ? runView(row) : waitingRunView(prompt, session.row);
      });
    },

    get: readable,

    async result(principal: Principal, id: string): Promise<{ run: Run; result: string | null }> {
      const run = await readable(principal, id);
      if (run.outcome === null) {
        throw new Refusal(
          "conflict",
          "run_not_settled",
          "This run has not ended. Ask again later, follow its session's events, or use executionMode sync.",
        );
      }
      return { run, result: run.result };
    },

    async stop(principal: Principal, id: string): Promise<Run> {
      await command(engine, (work) => stopById(work, principal, id));
      return readable(principal, id);
    },

    async list(
      principal: Principal,
      sessionId: string,
      query: { cursor?: string | undefined; limit: number },
    ): Promise<Page<Run>> {
      const before = decodeCursor(LIST, query.cursor);
      const rows = await store.read(async (reader) => {
        const session = await findSession(reader, sessionId);
        await requireReadable(reader, principal, session, clock.now());
        return listRuns(reader, {
          sessionId,
          limit: query.limit + 1,
          ...(before ? { before } : {}),
        });
      });
      return pageOf(
        LIST,
        rows,
        query.limit,
        (row) => ({ at: row.created_at, id: row.id }),
        runView,
      );
    },
  };
}

/** Reads a run. One whose prompt still waits has no row yet; it is read through its prompt. */
async function readRun(
  reader: Reader,
  principal: Principal,
  id: string,
  now: number,
): Promise<Run> {
  const prompt = await findPromptByRun(reader, id);
  if (!prompt) throw notFound("run");
  const found = await findSession(reader, prompt.session_id);
  const { session } = await requireReadable(reader, principal, found, now, "run");
  const row = await findRun(reader, id);
  return row ? runView(row) : waitingRunView(prompt, session);
}

async function writable(
  work: Work,
  principal: Principal,
  id: string,
  action: Action,
): Promise<SessionWriter> {
  const session = await work.sessionWithParent(id);
  if (!session || !may(principal, action, sessionResource(session.row))) throw notFound("session");
  return session;
}

async function sessionFor(
  work: Work,
  principal: Principal,
  freshId: string,
  request: RunRequest,
  defaults: SessionDefaults,
): Promise<SessionWriter> {
  if (request.agentName !== undefined) {
    throw new Refusal(
      "not_found",
      "agent_not_found",
      `There is no agent named ${request.agentName}. Leave agentName out to use the session's runtime.`,
    );
  }
  if (request.type === "resume_session") {
    if (request.sessionId === undefined) {
      throw new Refusal(
        "invalid",
        "session_required",
        "resume_session needs a sessionId. Use start_session to create a new session.",
      );
    }
    const session = await writable(work, principal, request.sessionId, "session.prompt");
    refuseChanges(session, request);
    return session;
  }
  if (request.sessionId !== undefined) {
    throw new Refusal(
      "invalid",
      "session_not_allowed",
      "start_session creates its own session. Use resume_session with a sessionId.",
    );
  }
  const { title, runtime, model, projectDir, parentSessionId, demands } = request;
  const isCallback = request.executionMode === "async_callback";
  return createSession(
    work,
    await newSession(
      work,
      principal,
      freshId,
      { title, runtime, model, projectDir, parentSessionId, isCallback, demands },
      defaults,
    ),
  );
}

/** Kind and purpose of a session are fixed when it is made; its parent may be named as it is. */
function refuseChanges({ row }: SessionWriter, request: RunRequest): void {
  const { title, runtime, model, projectDir, parentSessionId } = request;
  const parent = parentSessionId === row.parent_session_id ? undefined : parentSessionId;
  const fields = { title, runtime, model, projectDir, parentSessionId: parent };
  const given = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  if (given.length === 0) return;
  throw new Refusal(
    "invalid",
    "field_not_allowed",
    `resume_session continues the session as it is. Leave ${given.join(", ")} out, or use start_session.`,
  );
}

function requireCallbackParent({ row }: SessionWriter, { executionMode }: RunRequest): void {
  if (executionMode !== "async_callback" || row.parent_session_id !== null) return;
  throw new Refusal(
    "invalid",
    "callback_without_parent",
    "async_callback notifies the parent of the run's session, and there is none. Start a session with parentSessionId, or use async_poll or sync.",
  );
}

function promptOf(fresh: { prompt: string; run: string }, request: RunRequest) {
  return {
    id: fresh.prompt,
    runId: fresh.run,
    content: request.prompt,
    thread: MAIN_THREAD,
    mode: "followup" as const,
    attachments: [],
    origin: { channelType: "api", channelId: null, scopeKey: null, replyRef: null },
    runOptions: {
      type: request.type,
      executionMode: request.executionMode,
      agentName: null,
      demands: request.demands,
    },
  };
}

async function stopById(work: Work, principal: Principal, id: string): Promise<void> {
  const found = await findPromptByRun(work.tx, id);
  if (!found) throw notFound("run");
  const session = await writable(work, principal, found.session_id, "session.manage");
  const run = await findRun(work.tx, id);
  if (run) return stopIfLive(work, session, run);
  const prompt = await findPrompt(work.tx, found.id);
  if (prompt && prompt.state !== "settled") await withdrawPrompt(work, session, prompt);
}

async function stopIfLive(work: Work, session: SessionWriter, run: RunRow): Promise<void> {
  if (run.outcome === null) await cutTurn(work, session, run, "stop", null);
}
