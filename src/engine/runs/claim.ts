/**
 * Claiming: the oldest runs that wait and fit are given to a runner, each with a fresh fence and a
 * lease. A prompt enters the session's history here, and not before.
 */

import type { Assignment, TurnLimits } from "#protocol/frames.ts";
import { addressText, storedRepositoryAddress } from "#protocol/repository-address.ts";
import { type Attachment, type Author, isOrchestrator } from "#protocol/sessions.ts";
import { tellDecisions } from "../gates/gates.ts";
import type { PromptRow, RunnerRow, RunRow, SessionRow } from "../schema.ts";
import { findPrompt, savePrompt } from "../sessions/prompt-queries.ts";
import { listTurnEntries } from "../sessions/turn-entries.ts";
import { type Catalogue, roleOf } from "../tools/index.ts";
import { transitionPrompt } from "../transitions/prompt-transitions.ts";
import { mayTransitionRun, transitionRun } from "../transitions/run-transitions.ts";
import { showMovedRun } from "../transitions/session-transitions.ts";
import { command, type Engine, type SessionWriter, type Work } from "../work.ts";
import { findWorkspace } from "../workspaces/queries.ts";
import { recordedOf } from "../workspaces/relocate.ts";
import { findDenials } from "./find-denials.ts";
import { fits, type RunnerCapabilities, requirementsOf } from "./fit.ts";
import { journalItem } from "./journal-items.ts";
import {
  countHeldBy,
  findRun,
  listReady,
  lockFreeSessions,
  type ReadyRun,
  saveRunAndLease,
} from "./queries.ts";
import type { RunTokens } from "./run-tokens.ts";
import { capabilitiesOf } from "./runner-capabilities.ts";
import { listRunners } from "./runner-queries.ts";
import { type Briefing, readMaterial } from "./turn-material.ts";

const PAGE = 32;
const MAX_PAGES = 8;
/** For so long a run is left to other runners than the one whose lease on it ended. */
const LEFT_TO_OTHERS_MS = 10_000;

/** What is the same for every turn. */
export interface TurnConfig {
  limits: TurnLimits;
  catalogue: Catalogue;
  tokens: RunTokens;
  briefing: Briefing;
}

export interface ClaimContext {
  runner: RunnerRow;
  capabilities: RunnerCapabilities;
  free: number;
  config: TurnConfig;
  /** Its runtimes that are given at once what there is to read. */
  readers: ReadonlySet<string>;
  /** Called for each when the claim is durable, before anything else is told of it. */
  grant(assignment: Assignment): void;
}

export function claimRuns(engine: Engine, context: ClaimContext): Promise<void> {
  const { runner, capabilities, free } = context;
  return command(engine, async (work) => {
    let places = await placesOf(work, runner, free);
    const search = new Search(capabilities);
    for (let page = 0; page < MAX_PAGES && places > 0; page++) {
      const { fitting, exhausted } = await nextFitting(work, search);
      places -= await claimAll(work, fitting.slice(0, places), context);
      if (exhausted) break;
    }
  });
}

/** Counted in the database, because a runner that comes back may not know of all it has been given. */
export async function placesOf(work: Work, runner: RunnerRow, free: number): Promise<number> {
  return Math.min(free, runner.capacity - (await countHeldBy(work.tx, runner.id)));
}

/** Findings of one search for work, kept from page to page. */
class Search {
  readonly capabilities: RunnerCapabilities;
  readonly seen = new Set<string>();
  /** Wishes that this runner cannot fulfil; their runs are not looked at again. */
  readonly unfit = new Set<string>();
  /** Runs that this runner has lost, and that another one can take now. */
  readonly leftToOthers = new Set<string>();
  #others: readonly RunnerRow[] | undefined;

  constructor(capabilities: RunnerCapabilities) {
    this.capabilities = capabilities;
  }

  /** The other runners that may take work now; read only when it matters. */
  async others({ tx }: Work): Promise<readonly RunnerRow[]> {
    this.#others ??= (await listRunners(tx, this.capabilities.orgId)).filter(
      ({ id, state, ready }) => id !== this.capabilities.id && state === "online" && ready === 1,
    );
    return this.#others;
  }
}

async function nextFitting(work: Work, search: Search) {
  const { capabilities, seen, unfit, leftToOthers } = search;
  const learntBefore = unfit.size + leftToOthers.size;
  const wanted = { runnerId: capabilities.id, now: work.now, limit: PAGE };
  const page = await listReady(work.tx, wanted, [...unfit], [...leftToOthers]);
  const fitting: ReadyRun[] = [];
  for (const run of page.filter(({ id }) => !seen.has(id))) {
    seen.add(run.id);
    if (!fits(capabilities, requirementsOf(run))) unfit.add(run.demand_key);
    else if (await isLeftToOthers(work, search, run)) leftToOthers.add(run.id);
    else fitting.push(run);
  }
  // Nothing new was learnt, so the next page would be the same one.
  const hasLearnt = unfit.size + leftToOthers.size > learntBefore;
  return { fitting, exhausted: page.length < PAGE && !hasLearnt };
}

/** The runner that lost a run is the last to get it back while another one could take it. */
async function isLeftToOthers(work: Work, search: Search, run: ReadyRun): Promise<boolean> {
  if (run.lost_runner_id !== search.capabilities.id) return false;
  if (work.now >= run.available_at + LEFT_TO_OTHERS_MS) return false;
  const others = await search.others(work);
  return others.some((other) => fits(capabilitiesOf(other), requirementsOf(run)));
}

/** Returns how many. */
async function claimAll(
  work: Work,
  wanted: readonly ReadyRun[],
  context: ClaimContext,
): Promise<number> {
  if (wanted.length === 0) return 0;
  const sessions = wanted.map((run) => run.session_id);
  const free = await lockFreeSessions(work.tx, sessions);
  let claimed = 0;
  for (const { id, session_id } of wanted)
    if (free.has(session_id) && (await claimOne(work, id, session_id, context))) claimed += 1;
  return claimed;
}

/** False when it may not be claimed any more. */
export async function claimOne(
  work: Work,
  runId: string,
  sessionId: string,
  { runner, config, readers, grant }: ClaimContext,
): Promise<boolean> {
  const session = await work.session(sessionId);
  const run = await findRun(work.tx, runId);
  const prompt = run && (await findPrompt(work.tx, run.prompt_id));
  if (!session || !run || !prompt || session.row.lifecycle !== "active") return false;
  const claim = { type: "claim", runner, serverId: work.serverId, now: work.now } as const;
  if (!mayTransitionRun(run, claim)) return false;

  Object.assign(run, transitionRun(run, claim));
  run.progressed = 0;
  run.journaled = 0;
  run.lost_runner_id = null;
  const notBegun = notBegunBy(run);
  run.pause = null;
  run.model = session.row.model;
  const resumes = prompt.started_at !== null;
  if (!resumes) enterHistory(work, session, prompt, run);
  prompt.attempts = run.attempts;
  bindToRunner(session, run, runner);
  session.record({
    type: "run_claimed",
    thread: run.thread,
    promptId: prompt.id,
    runId: run.id,
    data: { runnerId: runner.id, fence: run.fence, attempt: run.attempts },
  });
  await savePrompt(work.tx, prompt);
  await saveRunAndLease(work.tx, run);
  if (!resumes) await work.emit({ type: "prompt_started", session, prompt });
  const assignment = await assignmentOf({ work, session, prompt, run, config, resumes });
  if (notBegun) assignment.notBegun = notBegun;
  if (readers.has(run.runtime)) addMaterial(work, assignment, { session, run, prompt }, config);
  work.tx.afterCommit(() => grant(assignment));
  return true;
}

/** It is read while the disk syncs, so nobody waits for it. */
function addMaterial(
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

/** Told to one attempt only: a later one cannot know whether that attempt had begun them. */
function notBegunBy({ pause }: RunRow): string[] | undefined {
  return pause === null ? undefined : (JSON.parse(pause) as { notBegun?: string[] }).notBegun;
}

function enterHistory(work: Work, session: SessionWriter, prompt: PromptRow, run: RunRow): void {
  session.row.waiting -= 1;
  Object.assign(prompt, transitionPrompt(prompt, { type: "start", now: work.now }));
  const { row } = session;
  if (row.started === 0) {
    row.started = 1;
    session.record({
      type: "session_start",
      thread: run.thread,
      promptId: prompt.id,
      runId: run.id,
    });
  }
  // A turn that goes on after a loss or a pause resumes nothing: the session was never at rest.
  if (row.executor_type !== null) row.last_resumed_at = work.now;
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

function bindToRunner(session: SessionWriter, run: RunRow, runner: RunnerRow): void {
  const { row } = session;
  row.hostname = runner.hostname;
  row.executor_type = run.runtime;
  row.executor_profile = runner.profile;
  // A folder that nobody granted is that of the runner which works on the session now: what another
  // runner called its own must not be opened on this one.
  if (row.repo === null && row.may_use_path === 0) row.project_dir = runner.project_dir;
  Object.assign(row, showMovedRun(row, "pending", "claimed"));
}

interface Claimed {
  work: Work;
  session: SessionWriter;
  prompt: PromptRow;
  run: RunRow;
  config: TurnConfig;
  /** The turn has begun before. */
  resumes: boolean;
}

async function assignmentOf(claimed: Claimed): Promise<Assignment> {
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
    hasBrief: hasBrief(row),
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
          ...(await tellDecisions(work, session, run)),
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
  // A session that has its files somewhere, or begins its first turn, has left nothing behind.
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

/** Whether some feature may have something for it to read. */
function hasBrief(session: SessionRow): boolean {
  const { persona_slug, repo, kind, supervisor, plan_required } = session;
  const leads = isOrchestrator({ kind }) || supervisor === 1;
  return persona_slug !== null || repo !== null || leads || plan_required === 1;
}

function authorOf(prompt: PromptRow): Author {
  return { kind: prompt.author_kind, id: prompt.author_id, name: prompt.author_name };
}
