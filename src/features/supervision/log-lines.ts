/**
 * Writes one log line per orchestration action after its commit, under the names operators search
 * for: `orchestration-inbox-enqueued`, `orchestration-wake-delivered`, `orchestration-wake-failed`.
 * A call that was refused or failed leaves `orchestration-call-refused`.
 */
import type { Log } from "#base/log.ts";
import type { KernelEvent, Listener, Work } from "#engine/index.ts";
import { ORCHESTRATION } from "#features/delegation/index.ts";
import { SUPERVISOR_TOOLS } from "./contract.ts";

const FAILED = "wake_failed";
/** Calls that leave a line when they succeed, too. */
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
    const words = `orchestration-${action.replaceAll("_", "-")}`;
    work.tx.afterCommit(() =>
      action === FAILED ? log.warn(fields, words) : log.info(fields, words),
    );
  };
}

/**
 * The transaction of a refused call leaves nothing, so its line is written when its end is journaled;
 * for a call that was not let through, when it was judged.
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
