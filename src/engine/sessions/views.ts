/** Sessions and prompts as clients see them. */
import type { Notice } from "#protocol/notices/notices.ts";
import {
  type Attachment,
  isOrchestrator,
  type Origin,
  type Prompt,
  type Session,
} from "#protocol/sessions.ts";
import { sessionRequirements } from "../runs/claims/fit.ts";
import type { PromptRow, SessionRow } from "../schema.ts";
import { isoTime } from "./log/event-view.ts";
import { type RunTrouble, viewSession } from "./states.ts";
import { type PromptSurroundings, promptWait, UNKNOWN_SURROUNDINGS } from "./turns/waiting-for.ts";

const optionalTime = (at: number | null) => (at === null ? null : isoTime(at));

/** Facts about a session that are not in its own row; see `describe-session.ts`. */
export interface SessionSurroundings {
  trouble: RunTrouble | null;
  waitingFor: Session["waitingFor"];
}

/** Fields that features keep, as they are shown without those features. */
const KEPT_BY_FEATURES = { persona: null, personaVersion: null, enableMemory: false };

export function sessionView(
  row: SessionRow,
  { trouble, waitingFor }: SessionSurroundings,
): Session {
  const { activity, status } = viewSession({
    lifecycle: row.lifecycle,
    runState: row.run_state,
    trouble,
    lastOutcome: row.last_outcome,
    awaiting: row.awaiting === 1,
    queued: row.waiting,
    isOrchestrator: isOrchestrator(row),
  });
  return {
    id: row.id,
    title: row.title,
    kind: row.kind,
    purpose: row.purpose,
    lifecycle: row.lifecycle,
    activity,
    waitingFor,
    status,
    lastError: lastErrorOf(row),
    parentSessionId: row.parent_session_id,
    rootSessionId: row.root_session_id,
    depth: row.depth,
    ownerId: row.owner_id,
    runtime: row.runtime,
    model: row.model,
    repo: row.repo,
    branch: row.branch,
    ...KEPT_BY_FEATURES,
    scopeKey: row.scope_key,
    channelBindings: webBinding(row),
    isOrchestrator: isOrchestrator(row),
    queueMode: row.queue_mode,
    instructions: row.instructions,
    budget: row.budget_micros,
    projectDir: row.project_dir ?? sessionRequirements(row).projectDir ?? null,
    agentName: row.agent_name,
    executorSessionId: row.executor_session_id,
    executorProfile: row.executor_profile,
    executorType: row.executor_type,
    hostname: row.hostname,
    incarnation: row.incarnation,
    lastSeq: row.last_seq,
    counts: { queued: row.waiting, prompts: row.prompts_total },
    cost: row.cost_unknown === 1 ? null : row.cost_micros,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
    lastResumedAt: optionalTime(row.last_resumed_at),
  };
}

function lastErrorOf({ last_error_code: code, last_error_message }: SessionRow) {
  return code === null ? null : { code, message: last_error_message ?? "" };
}

/** People can talk to every session from the web. */
function webBinding(row: SessionRow): Session["channelBindings"] {
  return row.owner_id === null
    ? []
    : [{ channelType: "web", channelId: `user:${row.owner_id}:manual:${row.id}` }];
}

export function promptView(
  row: PromptRow,
  around: PromptSurroundings = UNKNOWN_SURROUNDINGS,
): Prompt {
  return {
    id: row.id,
    sessionId: row.session_id,
    thread: row.thread,
    mode: row.mode,
    state: row.state,
    outcome: row.outcome,
    content: row.content,
    notice: row.notice === null ? null : (JSON.parse(row.notice) as Notice),
    attachments: JSON.parse(row.attachments) as Attachment[],
    author: { kind: row.author_kind, id: row.author_id, name: row.author_name },
    origin: JSON.parse(row.origin) as Origin,
    dispatchId: row.dispatch_id,
    runId: row.run_id,
    attempts: row.attempts,
    supersededBy: row.superseded_by,
    mergedInto: row.merged_into,
    error:
      row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? "" },
    acceptedAt: isoTime(row.accepted_at),
    queuedAt: optionalTime(row.queued_at),
    startedAt: optionalTime(row.started_at),
    settledAt: optionalTime(row.settled_at),
    endedWaitingFor: row.outcome === "completed" ? row.ended_waiting_for : null,
    waitingFor: promptWait(row, around),
  };
}
