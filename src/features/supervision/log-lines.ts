/**
 * Writes one log line per orchestration action after its commit, under the names operators search
 * for: `orchestration-inbox-enqueued`, `orchestration-wake-delivered`, `orchestration-wake-failed`.
 * A refused or failed call is logged as `orchestration-call-refused`.
 */
import type { Log } from "#base/log.ts";
import type { KernelEvent, Listener, Work } from "#engine/index.ts";
import { ORCHESTRATION } from "#features/delegation/index.ts";
import { SUPERVISOR_TOOLS } from "./contract.ts";

const FAILED = "wake_failed";
/** Tools whose refused or failed calls are logged; their successful calls are logged as actions. */
const TRACED_TOOLS: ReadonlySet<string> = new Set([
  ...SUPERVISOR_TOOLS,
  ...["spawn_session", "send_message", "terminate_session", "relocate_session", "decide_plan"],
]);

type CallEvent = Extract<KernelEvent, { type: "call_ended" | "call_judged" }>;

export function logLines(log: Log): Listener {
  return async (work, event) => {
    if (event.type === "call_ended" || event.type === "call_judged")
      return callRefused(work, log, event);
    if (event.type !== "setting_changed" || event.area !== ORCHESTRATION) return;
    const { action, by, subjectId, session, detail } = event;
    const fields = {
      sessionId: session?.id,
      by,
      ...(subjectId === null ? {} : { workerId: subjectId }),
      ...(detail === undefined ? {} : { type: detail }),
    };
    const message = `orchestration-${action.replaceAll("_", "-")}`;
    work.tx.afterCommit(() =>
      action === FAILED ? log.warn(fields, message) : log.info(fields, message),
    );
  };
}

/**
 * The transaction of a refused call is rolled back, so its line is written when the call's end is
 * journaled, or for a denied call when it is judged.
 */
async function callRefused(work: Work, log: Log, event: CallEvent): Promise<void> {
  const { session, run, call } = event;
  if (!TRACED_TOOLS.has(call.tool) || !isRefused(event)) return;
  const fields = { sessionId: session.row.id, runId: run.id, tool: call.tool };
  work.tx.afterCommit(() => log.warn(fields, "orchestration-call-refused"));
}

function isRefused(event: CallEvent): boolean {
  if (event.type === "call_ended") return event.call.failed;
  return event.call.verdict === "deny" || event.call.verdict === "invalid";
}
