/** Creates a session: checks its limits and places it in its parent's tree. */
import { cleanText } from "#base/text/clean-text.ts";
import { addressText, type RepositoryAddress } from "#protocol/names/repository-address.ts";
import type { RunnerRequirements } from "#protocol/runs.ts";
import { isOrchestrator, type QueueMode, type SessionKind } from "#protocol/sessions.ts";
import type { SessionRow } from "../schema.ts";
import { createdSession } from "../transitions/session-transitions.ts";
import type { RequestedFields, SessionWriter, Work } from "../work.ts";
import { findRoom } from "./lifecycle/ceilings.ts";
import { finishPurge } from "./purge/purge.ts";
import { lockOrg } from "./queries.ts";

export interface NewSession {
  id: string;
  orgId: string;
  ownerId: string | null;
  createdBy: string;
  title: string | null;
  kind: SessionKind;
  purpose: "task" | "review";
  parent: SessionRow | null;
  requested: RequestedFields;
  runtime: string;
  model: string | null;
  repo: RepositoryAddress | null;
  branch: string | null;
  scopeKey: string | null;
  queueMode: QueueMode;
  instructions: string | null;
  budgetMicros: number | null;
  /** Requirements of all its runs for their runner. */
  demands?: RunnerRequirements | null;
  projectDir: string | null;
  /**
   * True when the session may use a folder of a runner's machine, as `repo` or `projectDir` names
   * it.
   */
  mayUsePath: boolean;
  agentName: string | null;
}

export async function createSession(work: Work, input: NewSession): Promise<SessionWriter> {
  await requireRoom(work, input);
  // Only the ids of orchestrators are used again. Nothing of an earlier one may become part of the
  // new one.
  if (isOrchestrator(input)) await finishPurge(work, input.id);
  const session = work.create(sessionRow(input, work.now));
  const { row } = session;
  await work.emit({ type: "session_making", session, requested: input.requested });
  row.exclusive = isExclusive(row) ? 1 : 0;
  session.record({
    type: "session_created",
    data: { kind: row.kind, runtime: row.runtime, parentSessionId: row.parent_session_id },
  });
  await work.emit({ type: "session_created", session, requested: input.requested });
  return session;
}

async function requireRoom(work: Work, input: NewSession): Promise<void> {
  const { orgId: org_id, ownerId: owner_id, parent, kind } = input;
  await lockOrg(work.tx, org_id);
  // Keeps the lock order: sessions come before ceilings.
  if (parent) await work.session(parent.id);
  const parent_session_id = parent?.id ?? null;
  const refusal = await findRoom(
    work,
    { org_id, owner_id, kind, parent_session_id },
    { mayMakeRoom: true },
  );
  if (refusal) throw refusal;
}

/** Threads run side by side only in an orchestrator that the built-in loop serves. */
function isExclusive({ kind, runtime, repo }: SessionRow): boolean {
  return !(isOrchestrator({ kind }) && runtime === "native" && repo === null);
}

function requirementsText(demands: RunnerRequirements | null | undefined): string | null {
  return demands && Object.keys(demands).length > 0 ? JSON.stringify(demands) : null;
}

function sessionRow(input: NewSession, now: number): SessionRow {
  return {
    id: input.id,
    org_id: input.orgId,
    owner_id: input.ownerId,
    created_by: input.createdBy,
    title: input.title === null ? null : cleanText(input.title),
    kind: input.kind,
    purpose: input.purpose,
    ...createdSession(),
    parent_session_id: input.parent?.id ?? null,
    root_session_id: input.parent?.root_session_id ?? input.id,
    depth: input.parent ? input.parent.depth + 1 : 0,
    runtime: input.runtime,
    model: input.model,
    repo: input.repo === null ? null : addressText(input.repo),
    branch: input.branch,
    scope_key: input.scopeKey,
    queue_mode: input.queueMode,
    instructions: input.instructions === null ? null : cleanText(input.instructions),
    budget_micros: input.budgetMicros,
    project_dir: input.projectDir,
    may_use_path: input.mayUsePath ? 1 : 0,
    agent_name: input.agentName,
    executor_session_id: null,
    executor_profile: null,
    executor_type: null,
    hostname: null,
    // Decided once runtime and repository are settled.
    exclusive: 1,
    role: null,
    labels: "",
    awaiting: 0,
    awaiting_kind: null,
    awaiting_until: null,
    idle_ms: null,
    last_seq: 0,
    next_position: 0,
    waiting: 0,
    prompts_total: 0,
    started: 0,
    messages_total: 0,
    demands: requirementsText(input.demands),
    cost_micros: 0,
    cost_unknown: 0,
    created_at: now,
    updated_at: now,
    last_resumed_at: null,
  };
}
