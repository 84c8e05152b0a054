/** Runs as clients see them, including those whose prompt still waits and that have no row yet. */
import type { Run, RunnerRequirements } from "#protocol/runs.ts";
import type { PromptRow, RunRow, SessionRow } from "../schema.ts";
import { isoTime } from "../sessions/log/event-view.ts";
import { parseRunOptions } from "./run-options.ts";

const optionalTime = (at: number | null) => (at === null ? null : isoTime(at));

export function runView(row: RunRow): Run {
  return {
    id: row.id,
    sessionId: row.session_id,
    promptId: row.prompt_id,
    thread: row.thread,
    type: row.type,
    state: row.state,
    outcome: row.outcome,
    executionMode: row.execution_mode,
    runtime: row.runtime,
    agentName: row.agent_name,
    demands: JSON.parse(row.demands) as RunnerRequirements,
    runnerId: row.runner_id,
    fence: row.fence,
    attempts: row.attempts,
    error:
      row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? "" },
    result: row.result,
    createdAt: isoTime(row.created_at),
    claimedAt: optionalTime(row.claimed_at),
    startedAt: optionalTime(row.started_at),
    settledAt: optionalTime(row.settled_at),
  };
}

export function waitingRunView(prompt: PromptRow, session: SessionRow): Run {
  const options = parseRunOptions(prompt.run_options);
  const ended = prompt.state === "settled";
  return {
    id: prompt.run_id,
    sessionId: prompt.session_id,
    promptId: prompt.id,
    thread: prompt.thread,
    type: options.type,
    state: ended ? "stopped" : "pending",
    outcome: prompt.outcome,
    executionMode: options.executionMode,
    runtime: session.runtime,
    agentName: options.agentName ?? session.agent_name,
    demands: options.demands,
    runnerId: null,
    fence: 0,
    attempts: 0,
    error:
      prompt.error_code === null
        ? null
        : { code: prompt.error_code, message: prompt.error_message ?? "" },
    result: null,
    createdAt: isoTime(prompt.accepted_at),
    claimedAt: null,
    startedAt: null,
    settledAt: optionalTime(prompt.settled_at),
  };
}
