/** Reason why a prompt or a session waits: a code for programs, one sentence for people. Pure. */

import type { RunnerMatch } from "#engine/runs/claims/runner-match.ts";
import type { PromptRow, RunRow, SessionRow } from "#engine/schema.ts";
import { DISK_LOW } from "#protocol/reports/disk-report.ts";
import { SANDBOX_UNAVAILABLE } from "#protocol/reports/sandboxes.ts";
import type { Prompt, SessionWait, SessionWaitKind, WaitReason } from "#protocol/sessions.ts";
import { isoTime } from "../log/event-view.ts";

export interface RunSurroundings {
  run: RunRow | undefined;
  /** Match of the connected runners with the prompt's run. */
  runners: RunnerMatch;
  /**
   * Time when another runner may take the run, because its holder is away; null when the holder is
   * connected.
   */
  takeoverAt: number | null;
  now: number;
}

export interface PromptSurroundings extends RunSurroundings {
  /** Number of prompts that run before this one. */
  ahead: number;
  sessionBusy: boolean;
  /** True when the turn before it waits for somebody's answer. */
  sessionAsks: boolean;
}

/** For a prompt that was just admitted, or has ended: no surroundings are read for it. */
export const UNKNOWN_SURROUNDINGS: PromptSurroundings = {
  run: undefined,
  ahead: 0,
  runners: "fit",
  takeoverAt: null,
  sessionBusy: false,
  sessionAsks: false,
  now: 0,
};

const WHY: Record<WaitReason, string> = {
  collecting: "Waiting a moment for more prompts, to send them together.",
  behind_other_prompts: "Waiting for earlier prompts of this session.",
  session_busy: "The session is working on another turn.",
  no_runner: "No runner is connected. Start one with: muster runner",
  no_matching_runner:
    "No connected runner meets the requirements. Add one that does, or use another runtime.",
  runner_busy:
    "All suitable runners are busy. This starts by itself when one is free; another runner would start it sooner.",
  runner_starting: "The runner is still checking which models it can use. This starts by itself.",
  runner_silent: "The runner does not respond. If it stays away, another one takes over.",
  workspace_offline:
    "The machine with this session's files is not connected. Start its runner again, or continue on another machine with the recorded changes.",
  retry_backoff: "The runner was lost. The turn is retried shortly.",
  paused: "The model is unavailable for now. The turn continues by itself.",
  quota:
    "The provider's limit for this model is used up. The turn continues by itself; change the model to continue sooner.",
  budget: "The budget is used up. Raise it to continue.",
  gate: "Waiting for your answer.",
  stopping: "The turn is stopping.",
};

const BEHIND_TURN: ReadonlySet<WaitReason> = new Set(["session_busy", "behind_other_prompts"]);
/** Replaces the words for a busy session. */
const ASKS_FIRST =
  "The session is waiting for an answer to its question, and this prompt comes after it. Answer it in the approvals, or stop the turn.";

/** Replaces the words for a busy runner. */
const LOW_DISK =
  "The runner's disk is almost full, so it takes no new work. This continues by itself when there is space; somebody must free some on that machine.";

export function promptWait(row: PromptRow, around: PromptSurroundings): Prompt["waitingFor"] {
  const reason = promptReason(row, around);
  if (!reason) return null;
  const words = wordsFor(reason, around);
  const isBehindQuestion = around.sessionAsks && BEHIND_TURN.has(reason);
  const message = isBehindQuestion ? ASKS_FIRST : words.message;
  return { reason, ...words, message, ahead: Math.max(0, around.ahead) };
}

function promptReason(
  row: PromptRow,
  { ahead, sessionBusy, ...around }: Omit<PromptSurroundings, "sessionAsks">,
): WaitReason | null {
  if (row.state === "settled") return null;
  if (row.state === "collecting") return "collecting";
  if (row.state === "gated") return "gate";
  if (!around.run) return ahead > 0 ? "behind_other_prompts" : sessionBusy ? "session_busy" : null;
  return runReason(around);
}

/**
 * Wait kind of the session for each reason of a run; reasons without one are no wait of the
 * session.
 */
const KINDS: Partial<Record<WaitReason, SessionWaitKind>> = {
  no_runner: "runner",
  no_matching_runner: "runner",
  runner_busy: "runner",
  runner_starting: "runner",
  runner_silent: "runner",
  retry_backoff: "runner",
  workspace_offline: "machine",
  quota: "quota",
  budget: "budget",
};
/** Pauses that end as soon as a machine can continue; the others end with the time. */
const MACHINE_PAUSES: ReadonlySet<string> = new Set([
  SANDBOX_UNAVAILABLE,
  DISK_LOW,
  "models_unknown",
]);

const CHILDREN = "Waiting for agents; it continues when one reports. Write to it to wake it now.";
const TIME = "Sleeping until the time it set. Write to it to wake it now.";

/** Wait of a session; `around` is about its most telling live run, if there is one. */
export function sessionWait(row: SessionRow, around: RunSurroundings): SessionWait | null {
  const { lifecycle, run_state } = row;
  if (lifecycle === "archived" || lifecycle === "terminated") return null;
  // People see the gate itself. A feature that knows more says so when the session is described.
  if (run_state === "gated") return null;
  if (run_state !== null) return runWait(around);
  if (lifecycle === "hibernated") return null;
  if (row.awaiting === 1) return ownWait(row);
  if (row.waiting > 0) return { kind: "time", message: WHY.collecting, until: null };
  return null;
}

function runWait(around: RunSurroundings): SessionWait | null {
  const reason = runReason(around);
  if (!reason) return null;
  const paused = MACHINE_PAUSES.has(pauseCode(around.run) ?? "") ? "runner" : "time";
  const kind = reason === "paused" ? paused : KINDS[reason];
  return kind ? { kind, ...wordsFor(reason, around) } : null;
}

function ownWait({ awaiting_kind, awaiting_until }: SessionRow): SessionWait {
  const kind = awaiting_kind ?? "children";
  const message = kind === "time" ? TIME : CHILDREN;
  return { kind, message, until: optionalTime(awaiting_until) };
}

const WAITS_FOR_RUNNER: Record<RunnerMatch, WaitReason> = {
  none: "no_runner",
  unfit: "no_matching_runner",
  holder_away: "workspace_offline",
  starting: "runner_starting",
  low_disk: "runner_busy",
  fit: "runner_busy",
};
const QUOTA_CODES: ReadonlySet<string> = new Set(["model_quota_exhausted", "model_rate_limited"]);

function runReason({ run, runners, takeoverAt, now }: RunSurroundings): WaitReason | null {
  if (!run) return null;
  if (run.state !== "pending" && takeoverAt !== null) return "runner_silent";
  if (run.state === "stopping") return "stopping";
  if (run.state !== "pending") return null;
  const code = pauseCode(run);
  // Only that machine can try again, however soon the time comes.
  if (run.available_at <= now || (code === null && runners === "holder_away"))
    return WAITS_FOR_RUNNER[runners];
  if (code === null) return "retry_backoff";
  return QUOTA_CODES.has(code) ? "quota" : "paused";
}

function pauseCode(run: RunRow | undefined): string | null {
  if (!run || run.pause === null) return null;
  return (JSON.parse(run.pause) as { code: string }).code;
}

function wordsFor(
  reason: WaitReason,
  { run, runners, takeoverAt }: RunSurroundings,
): { message: string; until: string | null } {
  const message = reason === "runner_busy" && runners === "low_disk" ? LOW_DISK : WHY[reason];
  switch (reason) {
    case "paused":
    case "quota":
      return pauseOf(run) ?? { message, until: null };
    case "runner_silent":
      return { message, until: optionalTime(takeoverAt) };
    case "retry_backoff":
      return { message, until: optionalTime(run?.available_at ?? null) };
    default:
      return { message, until: null };
  }
}

function pauseOf(run: RunRow | undefined): { message: string; until: string | null } | undefined {
  if (!run || run.pause === null) return undefined;
  const { code, message } = JSON.parse(run.pause) as { code: string; message: string };
  // The run continues as soon as there is a sandbox, or room; the pause ends only to look again.
  const isOpenEnded = code === SANDBOX_UNAVAILABLE || code === DISK_LOW;
  return { message, until: isOpenEnded ? null : isoTime(run.available_at) };
}

const optionalTime = (at: number | null) => (at === null ? null : isoTime(at));
