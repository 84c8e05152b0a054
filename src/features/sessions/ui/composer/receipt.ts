/** Receipt of a prompt in words: its state, since when, and why it waits. Pure. */
import type { Outcome, Prompt, WaitReason } from "#protocol/sessions.ts";
import { plural } from "#surfaces/web/kit/text/money-words.ts";
import { clockTime, duration } from "#surfaces/web/kit/text/time-words.ts";

export type Tone = "quiet" | "busy" | "good" | "warn" | "bad";

export interface ReceiptStep {
  name: string;
  at: string | null;
  note: string | null;
}

export interface Receipt {
  tone: Tone;
  summary: string;
  steps: ReceiptStep[];
}

const OUTCOME_WORDS: Record<Outcome, { word: string; tone: Tone }> = {
  completed: { word: "Completed", tone: "good" },
  failed: { word: "Failed", tone: "bad" },
  aborted: { word: "Stopped", tone: "warn" },
  superseded: { word: "Superseded by a later prompt", tone: "warn" },
  merged: { word: "Combined with other follow-ups", tone: "quiet" },
  withdrawn: { word: "Withdrawn", tone: "quiet" },
};

export interface Waiting {
  /** True if notices of children came since. */
  isFollowed: boolean;
  /** Number of working children; null if not known. */
  children: number | null;
}

export function receiptOf(prompt: Prompt, waiting?: Waiting): Receipt {
  const isHandedOn = waiting !== undefined && prompt.endedWaitingFor !== null;
  return {
    tone: toneOf(prompt),
    summary: isHandedOn ? delegatedWords(prompt, waiting) : summaryOf(prompt),
    steps: stepsOf(prompt),
  };
}

/** Describes a prompt whose turn is over while its children still work. */
function delegatedWords(prompt: Prompt, { isFollowed, children }: Waiting): string {
  if (isFollowed) return prompt.outcome === "completed" ? "Delegated" : headline(prompt);
  return `Delegated · waiting for ${children ? plural(children, "agent") : "agents"}`;
}

function toneOf(prompt: Prompt): Tone {
  if (prompt.outcome !== null) return OUTCOME_WORDS[prompt.outcome].tone;
  const reason = prompt.waitingFor?.reason;
  if (prompt.state === "running") return reason && ON_HOLD[reason] ? "warn" : "busy";
  return prompt.state === "gated" ? "warn" : "quiet";
}

function summaryOf(prompt: Prompt): string {
  const parts = [headline(prompt)];
  if (prompt.attempts > 1) parts.push(`${prompt.attempts} attempts`);
  // The headline of a gate says what it waits for.
  if (prompt.outcome === null && prompt.state !== "gated" && prompt.waitingFor)
    parts.push(...waitWords(prompt.waitingFor));
  if (prompt.outcome !== "completed" && prompt.error) parts.push(prompt.error.message);
  return parts.join(" · ");
}

function headline(prompt: Prompt): string {
  if (prompt.outcome !== null) {
    const { word } = OUTCOME_WORDS[prompt.outcome];
    if (prompt.startedAt === null || prompt.settledAt === null) return word;
    const tookMs = Date.parse(prompt.settledAt) - Date.parse(prompt.startedAt);
    return prompt.outcome === "completed"
      ? `${word} in ${duration(tookMs)}`
      : `${word} after ${duration(tookMs)}`;
  }
  switch (prompt.state) {
    case "collecting":
      return "Collecting follow-ups";
    case "queued":
      return prompt.queuedAt === null ? "Accepted" : "Queued";
    case "gated":
      return "Waiting for your answer";
    case "running":
      return (prompt.waitingFor && ON_HOLD[prompt.waitingFor.reason]) ?? "Running";
    default:
      return "Settled";
  }
}

/** Texts for a turn that has started and is on hold. */
const ON_HOLD: Partial<Record<WaitReason, string>> = {
  paused: "Paused",
  quota: "Paused",
  budget: "Paused",
  runner_silent: "Recovering",
  retry_backoff: "Recovering",
  no_runner: "Waiting to resume",
  no_matching_runner: "Waiting to resume",
  runner_busy: "Waiting to resume",
  runner_starting: "Waiting to resume",
  workspace_offline: "Waiting to resume",
};

function waitWords(waiting: NonNullable<Prompt["waitingFor"]>): string[] {
  const words = [];
  if (waiting.ahead > 0) words.push(`${waiting.ahead} ahead`);
  if (waiting.message !== "") words.push(waiting.message);
  if (waiting.until) words.push(`resumes at ${clockTime(waiting.until)}`);
  return words;
}

function stepsOf(prompt: Prompt): ReceiptStep[] {
  const steps = [
    { name: "Accepted", at: prompt.acceptedAt, note: null },
    queuedStep(prompt),
    runningStep(prompt),
    settledStep(prompt),
  ];
  return steps.filter((step) => step !== undefined);
}

function queuedStep(prompt: Prompt): ReceiptStep | undefined {
  const isWaiting = prompt.state === "queued" || prompt.state === "collecting";
  if (prompt.queuedAt === null && !isWaiting) return undefined;
  const note = isWaiting ? (prompt.waitingFor?.message ?? null) : null;
  return { name: "Queued", at: prompt.queuedAt, note };
}

function runningStep(prompt: Prompt): ReceiptStep | undefined {
  const isRunning = prompt.state === "running" || prompt.state === "gated";
  if (prompt.startedAt === null && !isRunning) return undefined;
  const attempts = prompt.attempts > 1 ? `attempt ${prompt.attempts}` : null;
  const gate =
    prompt.state === "gated" ? (prompt.waitingFor?.message ?? "waiting for your answer") : null;
  return { name: "Running", at: prompt.startedAt, note: gate ?? attempts };
}

function settledStep(prompt: Prompt): ReceiptStep | undefined {
  if (prompt.outcome === null) return undefined;
  const { word } = OUTCOME_WORDS[prompt.outcome];
  return { name: word, at: prompt.settledAt, note: prompt.error?.message ?? null };
}
