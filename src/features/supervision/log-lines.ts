/**
 * Writes one log line per orchestration action after its commit, under the names operators search
 * for: `orchestration-inbox-enqueued`, `orchestration-wake-delivered`, `orchestration-wake-failed`.
 */
import type { Log } from "#base/log.ts";
import type { Listener } from "#engine/index.ts";
import { ORCHESTRATION } from "#features/delegation/index.ts";

const FAILED = "wake_failed";

export function logLines(log: Log): Listener {
  return async (work, event) => {
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
