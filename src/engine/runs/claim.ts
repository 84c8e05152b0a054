/**
 * Claiming: the oldest runs that wait and fit are given to a runner, each with a fresh fence and a
 * lease. A prompt enters the session's history here, and not before.
 */

import type { JournalItem } from "#protocol/events.ts";
import type { Assignment } from "#protocol/frames.ts";
import { LEASE_MS } from "#protocol/frames.ts";
import type { Attachment, Author } from "#protocol/sessions.ts";
import type { EventRow, PromptRow, RunnerRow, RunRow } from "../schema.ts";
import { listTurnEntries } from "../sessions/event-queries.ts";
import { findPrompt, savePrompt } from "../sessions/prompt-queries.ts";
import { command, type Engine, type SessionWriter, type Work } from "../work.ts";
import { fits, type RunnerOffer, wishOf } from "./fit.ts";
import {
  countHeldBy,
  findRun,
  listReady,
  lockFreeSessions,
  type ReadyRun,
  saveRunAndLease,
} from "./queries.ts";

const PAGE = 32;
const MAX_PAGES = 8;

export interface Claimer {
  runner: RunnerRow;
  offer: RunnerOffer;
  free: number;
}

export function claimRuns(engine: Engine, { runner, offer, free }: Claimer): Promise<Assignment[]> {
  return command(engine, async (work) => {
    // Counted here, because a runner that comes back may not know of all it has been given.
    const places = Math.min(free, runner.capacity - (await countHeldBy(work.tx, runner.id)));
    const assignments: Assignment[] = [];
    const search: Search = { offer, seen: new Set(), unfit: new Set() };
    for (let page = 0; page < MAX_PAGES && assignments.length < places; page++) {
      const { fitting, exhausted } = await nextFitting(work, search);
      const wanted = fitting.slice(0, places - assignments.length);
      assignments.push(...(await claimAll(work, wanted, runner)));
      if (exhausted) break;
    }
    return assignments;
  });
}

interface Search {
  offer: RunnerOffer;
  seen: Set<string>;
  /** Wishes that this runner cannot fulfil; their runs are not looked at again. */
  unfit: Set<string>;
}

async function nextFitting(work: Work, { offer, seen, unfit }: Search) {
  const unfitBefore = unfit.size;
  const page = await listReady(work.tx, work.now, PAGE, [...unfit]);
  const fresh = page.filter((run) => !seen.has(run.id));
  const fitting = fresh.filter((run) => {
    seen.add(run.id);
    const ok = fits(offer, wishOf(run));
    if (!ok) unfit.add(run.demand_key);
    return ok;
  });
  // Nothing new was learnt, so the next page would be the same one.
  return { fitting, exhausted: page.length < PAGE && unfit.size === unfitBefore };
}

async function claimAll(work: Work, wanted: readonly ReadyRun[], runner: RunnerRow) {
  if (wanted.length === 0) return [];
  const sessions = wanted.map((run) => run.session_id);
  const free = await lockFreeSessions(work.tx, sessions);
  const claimed: Assignment[] = [];
  for (const { id, session_id } of wanted) {
    if (!free.has(session_id)) continue;
    const assignment = await claimOne(work, id, session_id, runner);
    if (assignment) claimed.push(assignment);
  }
  return claimed;
}

async function claimOne(
  work: Work,
  runId: string,
  sessionId: string,
  runner: RunnerRow,
): Promise<Assignment | undefined> {
  const session = await work.session(sessionId);
  const run = await findRun(work.tx, runId);
  const prompt = run && (await findPrompt(work.tx, run.prompt_id));
  if (!session || !run || !prompt || run.state !== "pending" || session.row.lifecycle !== "active")
    return undefined;

  run.state = "claimed";
  run.runner_id = runner.id;
  run.runner_boot = runner.boot_id;
  run.server_boot = work.serverId;
  run.fence += 1;
  run.attempts += 1;
  run.progressed = 0;
  run.journaled = 0;
  run.lease_until = work.now + LEASE_MS;
  run.claimed_at = work.now;
  if (prompt.started_at === null) enterHistory(work, session, prompt, run);
  prompt.attempts = run.attempts;
  bindToRunner(work, session, run, runner);
  session.record({
    type: "run_claimed",
    thread: run.thread,
    promptId: prompt.id,
    runId: run.id,
    data: { runnerId: runner.id, fence: run.fence, attempt: run.attempts },
  });
  await savePrompt(work.tx, prompt);
  await saveRunAndLease(work.tx, run);
  return assignmentOf(work, session, prompt, run);
}

function enterHistory(work: Work, session: SessionWriter, prompt: PromptRow, run: RunRow): void {
  session.row.waiting -= 1;
  prompt.state = "running";
  prompt.started_at = work.now;
  if (session.row.executor_type === null) {
    session.record({
      type: "session_start",
      thread: run.thread,
      promptId: prompt.id,
      runId: run.id,
    });
  }
  session.record({
    type: "message",
    thread: prompt.thread,
    promptId: prompt.id,
    runId: run.id,
    entryId: `ent_${prompt.id.slice(4)}`,
    kind: "prompt",
    role: "user",
    content: [{ type: "text", text: prompt.content }],
    data: { author: authorOf(prompt), attachments: JSON.parse(prompt.attachments) },
  });
  run.first_seq = session.row.last_seq;
}

function bindToRunner(work: Work, session: SessionWriter, run: RunRow, runner: RunnerRow): void {
  const { row } = session;
  if (row.executor_type !== null) row.last_resumed_at = work.now;
  row.hostname = runner.hostname;
  row.executor_type = run.runtime;
  row.executor_profile = runner.profile;
  row.project_dir ??= runner.project_dir;
  if (row.exclusive === 1 || row.run_state === "pending") row.run_state = "claimed";
}

async function assignmentOf(
  work: Work,
  session: SessionWriter,
  prompt: PromptRow,
  run: RunRow,
): Promise<Assignment> {
  const { row } = session;
  const journal =
    run.attempts === 1 ? [] : await listTurnEntries(work.tx, row.id, run.first_seq, prompt.id);
  return {
    run: run.id,
    fence: run.fence,
    attempt: run.attempts,
    sessionId: row.id,
    thread: run.thread,
    promptId: prompt.id,
    content: prompt.content,
    attachments: JSON.parse(prompt.attachments) as Attachment[],
    author: authorOf(prompt),
    runtime: run.runtime,
    model: row.model,
    projectDir: row.project_dir,
    executorSessionId: row.executor_session_id,
    instructions: row.instructions,
    journal: journal.map(journalItem),
  };
}

function authorOf(prompt: PromptRow): Author {
  return { kind: prompt.author_kind, id: prompt.author_id, name: prompt.author_name };
}

/** The reverse of what `journal.ts` writes. */
export function journalItem(row: EventRow): JournalItem {
  const data = (row.data === null ? {} : JSON.parse(row.data)) as Record<string, unknown>;
  const base = {
    entryId: row.entry_id ?? "",
    ...(typeof data.step === "number" ? { step: data.step } : {}),
  };
  const parse = (text: string | null): unknown => (text === null ? null : JSON.parse(text));
  const text = () =>
    (parse(row.content) as { text: string }[] | null)?.map((block) => block.text).join("") ?? "";
  switch (row.type) {
    case "pre_tool":
      return {
        type: "pre_tool",
        ...base,
        callId: String(data.callId),
        tool: row.tool_name ?? "",
        input: parse(row.tool_input),
      };
    case "post_tool":
      return {
        type: "post_tool",
        ...base,
        callId: String(data.callId),
        tool: row.tool_name ?? "",
        input: parse(row.tool_input),
        output: parse(row.tool_output),
        error: row.error,
      };
    case "notice":
      return { type: "notice", ...base, text: text() };
    default:
      return {
        type: "message",
        ...base,
        kind: row.kind === "reasoning" ? "reasoning" : "text",
        text: text(),
        partial: data.partial === true,
      };
  }
}
