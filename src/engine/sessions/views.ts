/** Sessions and prompts as clients see them. */

import { DISK_LOW } from "#protocol/disk-report.ts";
import { SANDBOX_UNAVAILABLE } from "#protocol/sandboxes.ts";
import type { Attachment, Origin, Prompt, Session, WaitReason } from "#protocol/sessions.ts";
import type { PromptRow, RunRow, SessionRow } from "../schema.ts";
import { isoTime } from "./event-view.ts";
import { viewSession } from "./states.ts";

const optionalTime = (at: number | null) => (at === null ? null : isoTime(at));

/** `recovering`: its pending run has been attempted before. */
export function sessionView(row: SessionRow, recovering = false): Session {
  const { activity, status } = viewSession({
    lifecycle: row.lifecycle,
    runState: row.run_state,
    recovering,
    lastOutcome: row.last_outcome,
    awaiting: row.awaiting === 1,
  });
  return {
    id: row.id,
    title: row.title,
    kind: row.kind,
    purpose: row.purpose,
    lifecycle: row.lifecycle,
    activity,
    status,
    parentSessionId: row.parent_session_id,
    rootSessionId: row.root_session_id,
    depth: row.depth,
    ownerId: row.owner_id,
    runtime: row.runtime,
    model: row.model,
    repo: row.repo,
    branch: row.branch,
    persona: row.persona_slug,
    scopeKey: row.scope_key,
    channelBindings: webBinding(row),
    isOrchestrator: row.kind.endsWith("orchestrator"),
    queueMode: row.queue_mode,
    instructions: row.instructions,
    enableMemory: row.enable_memory === 1,
    budget: row.budget_micros,
    projectDir: row.project_dir,
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

/** Every session can be talked to from the web. */
function webBinding(row: SessionRow): Session["channelBindings"] {
  return row.owner_id === null
    ? []
    : [{ channelType: "web", channelId: `user:${row.owner_id}:manual:${row.id}` }];
}

export interface PromptSurroundings {
  run: RunRow | undefined;
  /** How many prompts run before it. */
  ahead: number;
  /** How the connected runners meet its run. */
  runners: "none" | "unfit" | "starting" | "low_disk" | "fit";
  /** When another runner may take its run, because the one that holds it is away; null when it is here. */
  takeoverAt: number | null;
  sessionBusy: boolean;
  now: number;
}

/** Right after admission, or after the end, nothing around a prompt explains it. */
const UNKNOWN: PromptSurroundings = {
  run: undefined,
  ahead: 0,
  runners: "fit",
  takeoverAt: null,
  sessionBusy: false,
  now: 0,
};

export function promptView(row: PromptRow, around: PromptSurroundings = UNKNOWN): Prompt {
  return {
    id: row.id,
    sessionId: row.session_id,
    thread: row.thread,
    mode: row.mode,
    state: row.state,
    outcome: row.outcome,
    content: row.content,
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
    waitingFor: waitingFor(row, around),
  };
}

const WHY: Record<WaitReason, string> = {
  collecting: "Waiting a moment for more to follow, to be sent together.",
  behind_other_prompts: "Other prompts of this session come first.",
  session_busy: "The session is working on another turn.",
  no_runner: "No runner is connected. Start one with: muster runner",
  no_matching_runner:
    "No connected runner offers what this asks for. Add one that does, or use another runtime.",
  runner_busy: "Waiting for a runner with a free place.",
  runner_starting: "A runner is connected and is finding out which models it can use.",
  runner_silent:
    "The runner that works on this does not answer. Unless it comes back in time, another takes over.",
  workspace_offline: "The machine that holds this session's files is not connected.",
  retry_backoff: "The runner was lost; it will be tried again shortly.",
  paused: "The model cannot be asked for a while; it goes on by itself.",
  gate: "Waiting for somebody to answer.",
  stopping: "The turn is being ended.",
};

/** In place of the words for a busy runner. */
const LOW_DISK =
  "The disk of the runner is almost full, so it takes no new work. This goes on by itself when there is room; somebody must make room on that machine.";

function waitingFor(row: PromptRow, around: PromptSurroundings): Prompt["waitingFor"] {
  const reason = waitReason(row, around);
  if (!reason) return null;
  const paused = reason === "paused" ? pauseOf(around.run) : undefined;
  const takeover = reason === "runner_silent" ? optionalTime(around.takeoverAt) : null;
  const isFull = reason === "runner_busy" && around.runners === "low_disk";
  return {
    reason,
    message: paused?.message ?? (isFull ? LOW_DISK : WHY[reason]),
    ahead: Math.max(0, around.ahead),
    until: paused?.until ?? takeover,
  };
}

function pauseOf(run: RunRow | undefined): { message: string; until: string | null } | undefined {
  if (!run || run.pause === null) return undefined;
  const { code, message } = JSON.parse(run.pause) as { code: string; message: string };
  // It goes on as soon as there is a sandbox, or room; the pause ends only to look again.
  const isOpenEnded = code === SANDBOX_UNAVAILABLE || code === DISK_LOW;
  const until = isOpenEnded ? null : isoTime(run.available_at);
  return { message, until };
}

const WAITS_FOR_RUNNER = {
  none: "no_runner",
  unfit: "no_matching_runner",
  starting: "runner_starting",
  low_disk: "runner_busy",
  fit: "runner_busy",
} as const;

function waitReason(
  row: PromptRow,
  { run, ahead, runners, takeoverAt, sessionBusy, now }: PromptSurroundings,
): WaitReason | null {
  if (row.state === "settled") return null;
  if (row.state === "collecting") return "collecting";
  if (row.state === "gated") return "gate";
  if (!run) return ahead > 0 ? "behind_other_prompts" : sessionBusy ? "session_busy" : null;
  if (run.state !== "pending" && takeoverAt !== null) return "runner_silent";
  return runWaitReason(run, runners, now);
}

function runWaitReason(
  run: RunRow,
  runners: PromptSurroundings["runners"],
  now: number,
): WaitReason | null {
  if (run.state === "stopping") return "stopping";
  if (run.state !== "pending") return null;
  if (run.available_at > now) return run.pause === null ? "retry_backoff" : "paused";
  const isHere = runners !== "none" && runners !== "unfit";
  if (run.pinned_runner_id !== null && !isHere) return "workspace_offline";
  return WAITS_FOR_RUNNER[runners];
}
