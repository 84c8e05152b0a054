/**
 * Records agents' refused HTTP requests. A refused person knows it; an agent that probes for access does so
 * unseen, so each of its refusals leaves a line in the log and a row in the audit trail: session, kind of
 * thing and code. Neither contains any text of the agent.
 */
import type { Log } from "#base/log.ts";
import type { Refusal } from "#base/refusal.ts";
import { createChangeReporter, type Engine, type Principal } from "#engine/index.ts";

/** Limit per run; further refusals add no information. */
const MOST_PER_RUN = 100;
const RUNS_REMEMBERED = 1_000;

export interface AgentRequest {
  method: string;
  /** Pattern of the route, not the requested address. */
  route: string;
}

export type NoteRefusal = (
  principal: Principal,
  request: AgentRequest,
  refusal: Refusal,
) => Promise<void>;

export function createAgentRefusals(engine: Engine, log: Log): NoteRefusal {
  const { store } = engine;
  const tell = createChangeReporter(() => engine);
  const counts = new Map<string, number>();

  /** Counts the refusals of this run, this one included. */
  function count(run: string): number {
    const now = (counts.get(run) ?? 0) + 1;
    counts.delete(run);
    counts.set(run, now);
    const [oldest] = counts.keys();
    if (counts.size > RUNS_REMEMBERED && oldest !== undefined) counts.delete(oldest);
    return now;
  }

  return async (principal, { method, route }, { kind, code }) => {
    if (principal.kind !== "session" || kind === "unavailable") return;
    const { orgId, sessionId, ownerId, run } = principal;
    const soFar = count(run?.runId ?? sessionId);
    if (soFar > MOST_PER_RUN) return;
    const isLast = soFar === MOST_PER_RUN;
    const fields = { sessionId, runId: run?.runId ?? null, method, route, code };
    log.warn(
      fields,
      isLast ? "refused an agent; its further refusals are not logged" : "refused an agent",
    );
    try {
      await store.transaction((tx) =>
        tell(tx, {
          orgId,
          by: `session:${sessionId}`,
          area: "agent",
          action: "request_refused",
          subjectId: run?.runId ?? null,
          session: { id: sessionId, owner_id: ownerId },
          detail: code,
        }),
      );
    } catch (error) {
      log.error({ err: error, sessionId }, "a refusal could not be written to the trail");
    }
  };
}
