/** Builds an assignment: everything that a runner must know to work on a turn. */

import { deliverDecisions } from "#engine/gates/gates.ts";
import type { PromptRow, RunRow, SessionRow } from "#engine/schema.ts";
import { listTurnEntries } from "#engine/sessions/turns/turn-entries.ts";
import { type Catalogue, roleOf } from "#engine/tools/index.ts";
import type { SessionWriter, Work } from "#engine/work.ts";
import { findWorkspace } from "#engine/workspaces/queries.ts";
import { recordedOf } from "#engine/workspaces/relocate.ts";
import type { Assignment, TurnLimits } from "#protocol/frames.ts";
import { addressText, storedRepositoryAddress } from "#protocol/names/repository-address.ts";
import type { Attachment, Author } from "#protocol/sessions.ts";
import { findDenials } from "../journal/find-denials.ts";
import { journalItem } from "../journal/journal-items.ts";
import type { RunTokens } from "../runners/run-tokens.ts";
import { type Briefing, readMaterial } from "../runners/turn-material.ts";

/** Settings that are the same for every turn. */
export interface TurnConfig {
  limits: TurnLimits;
  catalogue: Catalogue;
  tokens: RunTokens;
  briefing: Briefing;
}

interface Claimed {
  work: Work;
  session: SessionWriter;
  prompt: PromptRow;
  run: RunRow;
  config: TurnConfig;
  /** True when the turn has begun before. */
  resumes: boolean;
}

export async function buildAssignment(claimed: Claimed): Promise<Assignment> {
  const { work, session, prompt, run, config, resumes } = claimed;
  const { row } = session;
  const turn = { sessionId: row.id, after: run.first_seq, promptId: prompt.id };
  const journal = resumes ? await listTurnEntries(work.tx, turn) : [];
  return {
    run: run.id,
    fence: run.fence,
    token: config.tokens.mint({ runId: run.id, fence: run.fence }),
    attempt: run.attempts,
    sessionId: row.id,
    thread: run.thread,
    promptId: prompt.id,
    content: prompt.content,
    attachments: JSON.parse(prompt.attachments) as Attachment[],
    author: authorOf(prompt),
    ownerId: row.owner_id,
    parentSessionId: row.parent_session_id,
    isFirst: row.prompts_total <= 1,
    runtime: run.runtime,
    model: row.model,
    projectDir: row.project_dir,
    executorSessionId: row.executor_session_id,
    instructions: row.instructions,
    hasBrief: config.briefing.hasBrief(row),
    ...repositoryOf(row),
    branch: row.branch,
    role: roleOf(row),
    tools: [...config.catalogue.namesFor(row)],
    limits: config.limits,
    spentMicros: run.cost_micros ?? 0,
    workedMs: run.worked_ms,
    ...(await carriedChanges(work, row, run)),
    budgetLeftMicros:
      row.budget_micros === null ? null : Math.max(0, row.budget_micros - row.cost_micros),
    decisions: resumes
      ? [
          ...(await deliverDecisions(work, session, run)),
          ...(await findDenials(work, session, run, journal)),
        ]
      : [],
    journal: journal.map(journalItem),
  };
}

/** Changes of a workspace that the session has left; they go into the next one. */
async function carriedChanges(
  work: Work,
  row: SessionRow,
  { pinned_runner_id, fence }: RunRow,
): Promise<Pick<Assignment, "carried">> {
  // A session whose files are on a machine, or that begins its first turn, has left nothing behind.
  const isFirst = row.prompts_total <= 1 && fence <= 1;
  if (pinned_runner_id !== null || isFirst) return {};
  const workspace = await findWorkspace(work.tx, row.id);
  return workspace?.left_at == null ? {} : { carried: recordedOf(workspace.changes) };
}

function repositoryOf({ repo, may_use_path }: SessionRow) {
  const mayUsePath = may_use_path === 1;
  if (repo === null) return { repo, repository: null, mayUsePath };
  const repository = storedRepositoryAddress(repo);
  const isRefused = repository.kind === "path" && !mayUsePath;
  return { repo: isRefused ? null : addressText(repository), repository, mayUsePath };
}

/** Adds the turn's material, which is read while the disk syncs, so nobody waits for it. */
export function addMaterial(
  work: Work,
  assignment: Assignment,
  { session, run, prompt }: Pick<Claimed, "session" | "run" | "prompt">,
  { briefing }: TurnConfig,
): void {
  const needs = { brief: assignment.hasBrief, history: !assignment.isFirst };
  work.tx.whileSyncing(async (reader) => {
    const rows = { session: session.row, run, prompt };
    const material = await readMaterial(reader, briefing, rows, needs);
    if (needs.brief || needs.history || material.time) assignment.material = material;
  });
}

export function authorOf(prompt: PromptRow): Author {
  return { kind: prompt.author_kind, id: prompt.author_id, name: prompt.author_name };
}
