/** Looks at a task's check when somebody completes the task. The result is kept, whether it passed or not. */
import { Refusal } from "#base/refusal.ts";
import { cleanText } from "#base/text/clean-text.ts";
import { findRun } from "#engine/runs/index.ts";
import { findSession, listCallEvents } from "#engine/sessions/index.ts";
import type { BoardEdit } from "../board/board.ts";
import { keepCheck } from "../changes/record-queries.ts";
import type { TaskCheck } from "../contract.ts";
import type { TaskRow } from "../schema.ts";
import {
  CHANGING_TOOLS,
  type Finding,
  judgeCommand,
  judgePullRequest,
  outputOf,
  PULL_REQUEST_TOOL,
} from "./find-evidence.ts";

/** Limits of the look back into a session's log: events, and calls among them. */
const LOOK_BACK = 20_000;
const CALLS_LOOKED_AT = 200;
const OUTPUT_KEPT_CHARS = 8_000;
const CHECKS_KEPT = 20;
/** The runtime whose tools the runner itself performs. Other runtimes only report their calls. */
const TRUSTED_RUNTIME = "native";

export function checkOf({ check_spec }: TaskRow): TaskCheck | null {
  return check_spec === null ? null : (JSON.parse(check_spec) as TaskCheck);
}

/** Key that results of the check are kept under. */
export function checkSubject(check: TaskCheck): string {
  return check.kind === "command" ? check.command : check.state;
}

/** Refuses a check that could never pass, when it is set. */
export function requireCheckable(check: TaskCheck): void {
  if (check.kind !== "pull_request" || check.state === "open") return;
  throw new Refusal(
    "invalid",
    "check_not_verifiable",
    `A pull request that is ${check.state} cannot be checked here: only that the session opened one. Use state open, or a command.`,
  );
}

/** Returns why the task cannot be completed; undefined if its check has passed or there is none. */
export async function checkTask(edit: BoardEdit, task: TaskRow): Promise<Refusal | undefined> {
  const check = checkOf(task);
  if (!check) return undefined;
  const sessionId = task.assignee_id;
  if (sessionId === null)
    return notPassed(
      "It is unassigned, so there is no workspace to check: assign it to a session.",
    );
  const finding = await findEvidence(edit, sessionId, check);
  if (finding.state !== "never") await keepFinding(edit, task, check, sessionId, finding);
  if (finding.state === "passed") return undefined;
  const who = sessionId === edit.actor.sessionId ? null : sessionId;
  return notPassed(check.kind === "command" ? askRun(check, finding, who) : askOpen(finding, who));
}

async function findEvidence(
  { work }: BoardEdit,
  sessionId: string,
  check: TaskCheck,
): Promise<Finding> {
  const session = await findSession(work.tx, sessionId);
  const events = await listCallEvents(work.tx, {
    sessionId,
    after: Math.max(0, (session?.last_seq ?? 0) - LOOK_BACK),
    tools: check.kind === "command" ? CHANGING_TOOLS : [PULL_REQUEST_TOOL],
    limit: CALLS_LOOKED_AT,
  });
  const finding = check.kind === "command" ? judgeCommand(events, check) : judgePullRequest(events);
  const runId = finding.state === "never" ? null : finding.ended.run_id;
  const run = runId === null ? undefined : await findRun(work.tx, runId);
  return run?.runtime === TRUSTED_RUNTIME ? finding : { state: "never" };
}

async function keepFinding(
  { work, board }: BoardEdit,
  task: TaskRow,
  check: TaskCheck,
  sessionId: string,
  { state, ended }: Exclude<Finding, { state: "never" }>,
): Promise<void> {
  const output = outputOf(ended);
  const row = {
    id: work.ids.mint("evt"),
    org_id: board.row.org_id,
    session_id: board.row.id,
    task_id: task.id,
    checked_session_id: sessionId,
    seq: ended.seq,
    kind: check.kind,
    subject: checkSubject(check),
    passed: state === "passed" || state === "changed_since" ? 1 : 0,
    exit_code: ended.exit_code,
    output: cleanText(output.slice(-OUTPUT_KEPT_CHARS)),
    at: ended.at,
  };
  await keepCheck(work.tx, row, CHECKS_KEPT);
}

const WHY: Readonly<Record<Exclude<Finding["state"], "passed">, string>> = {
  never: "It has not been run yet.",
  wrong_exit: "It was run and did not exit as required.",
  elsewhere: "It was run, but not at the top of the workspace.",
  changed_since: "It passed, but another command or an edit may have changed files since.",
};

function askRun(
  { command, expectExitCode = 0 }: Extract<TaskCheck, { kind: "command" }>,
  { state }: Finding,
  who: string | null,
): string {
  const why = state === "passed" ? "" : WHY[state];
  const whoRuns = who === null ? "Run" : `Its session, ${who}, must run`;
  const next = who === null ? "then call task_update again" : "then it can be completed";
  return `${why} ${whoRuns} exactly this with bash, at the top of the workspace, after the last change, and it must exit with code ${expectExitCode}; ${next}:\n${command}`;
}

function askOpen({ state }: Finding, who: string | null): string {
  const why =
    state === "never" ? "No pull request was opened." : "The last attempt to open one failed.";
  const whoOpens = who === null ? "Open one" : `Its session, ${who}, must open one`;
  return `${why} ${whoOpens} with create_pull_request first.`;
}

function notPassed(what: string): Refusal {
  return new Refusal(
    "conflict",
    "check_not_passed",
    `This task can be completed when its check has passed. ${what}`,
  );
}
