/**
 * What a runner writes: batches of journal items and the settlement of its run. One fence check
 * covers a batch; items that were appended before are left out, so a batch may be sent again.
 */
import { cleanText } from "#base/text.ts";
import type { JournalItem, Settlement } from "#protocol/events.ts";
import type { ExecutorBinding } from "#protocol/frames.ts";
import type { RunRow } from "../schema.ts";
import { findPrompt } from "../sessions/prompt-queries.ts";
import { settleRun } from "../sessions/turns.ts";
import { command, type Engine, type EventDraft, type SessionWriter, type Work } from "../work.ts";
import { findRun, HELD_STATES, saveRun } from "./queries.ts";
import { outcomeOf } from "./request-stop.ts";

export interface Batch {
  run: string;
  fence: number;
  runnerId: string;
  firstOrdinal: number;
  items: readonly JournalItem[];
  bind?: ExecutorBinding | undefined;
  settle?: Settlement | undefined;
}

export type Journaled =
  | { ok: true; lastOrdinal: number }
  | { ok: false; code: "stale_fence" | "ordinal_gap" | "run_not_found" };

export function journal(engine: Engine, batch: Batch): Promise<Journaled> {
  return command(engine, async (work) => {
    const found = await findRun(work.tx, batch.run);
    const session = found && (await work.session(found.session_id));
    // Read again under the lock: only now is it certain whose run it is.
    const run = session && (await findRun(work.tx, batch.run));
    if (!session || !run) return { ok: false, code: "run_not_found" };
    const refused = refuse(run, batch);
    if (refused) return refused;
    const fresh = batch.items.slice(run.journaled + 1 - batch.firstOrdinal);
    apply(work, session, run, fresh, batch.bind);
    if (batch.settle) await settle(work, session, run, batch.settle);
    else await saveRun(work.tx, run);
    return { ok: true, lastOrdinal: run.journaled };
  });
}

/** The answer to a batch that must not be applied; undefined when it may. */
function refuse(run: RunRow, batch: Batch): Journaled | undefined {
  if (run.fence !== batch.fence || run.runner_id !== batch.runnerId) {
    return { ok: false, code: "stale_fence" };
  }
  if (!isHeld(run)) {
    // A settlement that is sent again finds its run ended under the same fence.
    const lastOrdinal = batch.firstOrdinal + batch.items.length - 1;
    const repeated = batch.settle !== undefined && lastOrdinal <= run.journaled;
    return repeated ? { ok: true, lastOrdinal: run.journaled } : { ok: false, code: "stale_fence" };
  }
  return batch.firstOrdinal > run.journaled + 1 ? { ok: false, code: "ordinal_gap" } : undefined;
}

function isHeld(run: RunRow): boolean {
  return (HELD_STATES as readonly string[]).includes(run.state);
}

function apply(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  items: readonly JournalItem[],
  bind: ExecutorBinding | undefined,
): void {
  if (run.state === "claimed") {
    run.state = "running";
    run.started_at ??= work.now;
    if (session.row.run_state === "claimed") session.row.run_state = "running";
  }
  if (bind) bindExecutor(session, run, bind);
  for (const item of items)
    session.record({
      ...draftOf(item),
      thread: run.thread,
      promptId: run.prompt_id,
      runId: run.id,
    });
  if (items.length > 0) run.progressed = 1;
  run.journaled += items.length;
}

function bindExecutor(session: SessionWriter, run: RunRow, given: ExecutorBinding): void {
  const { row } = session;
  const bind = cleanBinding(given);
  row.executor_session_id = bind.executorSessionId ?? row.executor_session_id;
  row.executor_type = bind.executorType;
  row.executor_profile = bind.executorProfile ?? row.executor_profile;
  row.project_dir = bind.projectDir ?? row.project_dir;
  session.record({
    type: "run_bound",
    thread: run.thread,
    promptId: run.prompt_id,
    runId: run.id,
    data: { executorSessionId: bind.executorSessionId, executorType: bind.executorType },
  });
}

function cleanBinding(given: ExecutorBinding): ExecutorBinding {
  const clean = (text: string | null) => (text === null ? null : cleanText(text));
  return {
    executorSessionId: clean(given.executorSessionId),
    executorType: cleanText(given.executorType),
    executorProfile: clean(given.executorProfile),
    projectDir: clean(given.projectDir),
  };
}

async function settle(
  work: Work,
  session: SessionWriter,
  run: RunRow,
  settlement: Settlement,
): Promise<void> {
  const prompt = await findPrompt(work.tx, run.prompt_id);
  if (!prompt) throw new Error(`run ${run.id} has no prompt`);
  const { outcome, error, result, usage } = settlement;
  const cut = run.stop_reason !== null && (outcome === "aborted" || outcome === "superseded");
  await settleRun(work, session, prompt, run, {
    outcome: cut ? outcomeOf(run.stop_reason) : outcome === "superseded" ? "aborted" : outcome,
    ...(error ? { error } : {}),
    ...(result === undefined ? {} : { result }),
    ...(usage ? { usage } : {}),
    ...(cut && run.stop_by_prompt ? { supersededBy: run.stop_by_prompt } : {}),
  });
}

function draftOf(item: JournalItem): EventDraft {
  const step = item.step === undefined ? {} : { step: item.step };
  switch (item.type) {
    case "message":
      return {
        type: "message",
        entryId: item.entryId,
        kind: item.kind,
        role: "assistant",
        content: [{ type: item.kind, text: item.text }],
        data: { ...step, ...(item.partial ? { partial: true } : {}) },
      };
    case "pre_tool":
      return {
        type: "pre_tool",
        entryId: item.entryId,
        kind: "tool_call",
        role: "assistant",
        toolName: item.tool,
        toolInput: item.input,
        data: { ...step, callId: item.callId },
      };
    case "post_tool":
      return {
        type: "post_tool",
        entryId: item.entryId,
        kind: "tool_result",
        role: "assistant",
        toolName: item.tool,
        toolInput: item.input,
        toolOutput: item.output,
        error: item.error,
        exitCode: item.exitCode ?? null,
        data: {
          ...step,
          callId: item.callId,
          durationMs: item.durationMs ?? null,
          truncated: item.truncated ?? false,
        },
      };
    case "notice":
      return {
        type: "notice",
        entryId: item.entryId,
        kind: "notice",
        role: "assistant",
        content: [{ type: "text", text: item.text }],
        data: step,
      };
  }
}
