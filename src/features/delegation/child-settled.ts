/** The end of a turn: what its parent hears of it, and what follows for the session itself. */
import type { KernelEvent, PromptRow, RunRow, SessionWriter, Work } from "#engine/index.ts";
import { parseRunOptions } from "#engine/runs/index.ts";
import { endSession } from "#engine/sessions/index.ts";
import { returnBudget } from "./budget.ts";
import type { WorkerEventPayload } from "./contract.ts";
import { eventOf } from "./events.ts";
import { silence } from "./link.ts";
import { purgeSoon } from "./purge-child.ts";
import { deleteCompletion, findCompletion, findLink, saveLink } from "./queries.ts";
import type { LinkRow } from "./schema.ts";
import { tellParent } from "./tell-parent.ts";

/** The whole of what a child said last is given up to here; the rest is in its transcript. */
const MAX_TEXT_CHARS = 32_000;
const WITHDRAWN = "Somebody took back what you had asked of it, before it began.";

type Settled = Extract<KernelEvent, { type: "prompt_settled" }>;

export async function childSettled(work: Work, settled: Settled): Promise<void> {
  const { session, prompt, run } = settled;
  const { id, parent_session_id } = session.row;
  // Without a run nothing has begun: it was taken back, or went with its session.
  if (!run && prompt.outcome !== "withdrawn") return;
  const link = parent_session_id === null ? undefined : await findLink(work.tx, id);
  const completion = run ? await findCompletion(work.tx, id, run.id) : undefined;
  const isUnmade = link !== undefined && isNeverMade(session, prompt, link);
  if (link) await tellEnding(work, settled, link, { summary: completion?.summary, isUnmade });
  if (completion) await completeSession(work, session, prompt, link);
  if (link && isUnmade) await removeUnmade(work, session, link);
  if (link && isGone(session)) await settleUp(work, session);
}

interface Said {
  /** What it said when it said that it was done. */
  summary: string | undefined;
  isUnmade: boolean;
}

async function tellEnding(
  work: Work,
  { session, prompt, run }: Settled,
  link: LinkRow,
  { summary, isUnmade }: Said,
): Promise<void> {
  if (prompt.outcome === null || link.quiet_run === prompt.run_id) return;
  // Its caller asked to be told in another way.
  if (parseRunOptions(prompt.run_options).executionMode === "async_callback") return;
  const type = eventOf({
    outcome: prompt.outcome,
    code: prompt.error_code,
    isReplaced: prompt.superseded_by !== null || (run?.stop_by_prompt ?? null) !== null,
    isGone: isGone(session),
    isParents: prompt.created_by === `session:${link.parent_session_id}`,
  });
  if (!type) return;
  const payload: WorkerEventPayload = {
    outcome: prompt.outcome,
    code: prompt.error_code,
    ...textOf(prompt, run, summary),
    promptId: prompt.id,
    ...(isUnmade && { isRemoved: true }),
  };
  await tellParent(work, session, link, { type, payload, causeKey: `ended:${prompt.run_id}` });
}

function textOf(prompt: PromptRow, run: RunRow | null, summary: string | undefined) {
  const withdrawn = prompt.outcome === "withdrawn" ? WITHDRAWN : "";
  const text = summary ?? run?.result ?? prompt.error_message ?? withdrawn;
  return { text: text.slice(0, MAX_TEXT_CHARS), isCut: text.length > MAX_TEXT_CHARS };
}

function isGone({ row }: SessionWriter): boolean {
  return row.lifecycle === "archived" || row.lifecycle === "terminated";
}

/** It has said that it is done: it is put away, unless more was asked of it meanwhile. */
async function completeSession(
  work: Work,
  session: SessionWriter,
  { outcome }: PromptRow,
  link: LinkRow | undefined,
): Promise<void> {
  const { id, lifecycle, run_state, waiting } = session.row;
  await deleteCompletion(work.tx, id);
  const isOver = outcome === "completed" && run_state === null && waiting === 0;
  if (!isOver || lifecycle !== "active") return;
  if (link) await silence(work, link);
  await endSession(work, session, { to: "archived", force: true });
}

/**
 * An agent asked for a child on a repository that could not be had: there is nothing that anybody
 * could go on with. One that a person made or spoke to is theirs to keep.
 */
function isNeverMade({ row }: SessionWriter, prompt: PromptRow, link: LinkRow): boolean {
  const parent = `session:${link.parent_session_id}`;
  return (
    prompt.error_code === "workspace_clone_failed" &&
    row.prompts_total === 1 &&
    row.created_by === parent &&
    prompt.created_by === parent
  );
}

async function removeUnmade(work: Work, session: SessionWriter, link: LinkRow): Promise<void> {
  if (session.row.lifecycle === "terminated") return;
  await silence(work, link);
  await endSession(work, session, { to: "terminated", force: true });
  await purgeSoon(work, session.row);
}

/** Its last turn wound down after it had ended: what that cost is charged. */
async function settleUp(work: Work, session: SessionWriter): Promise<void> {
  if (session.row.budget_micros === null) return;
  const link = await findLink(work.tx, session.row.id);
  const parent = link && (await work.session(link.parent_session_id));
  if (!link || !parent) return;
  returnBudget(parent.row, session.row, link);
  await saveLink(work.tx, link);
}
