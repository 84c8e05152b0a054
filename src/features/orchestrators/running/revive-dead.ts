/**
 * Restores ended orchestrators automatically, in hibernation. One that its owner archived stays
 * archived until they want it. Each attempt is recorded before it is made, so that an attempt that
 * fails or crashes the server still counts.
 */
import { command, type Engine, forEachIndependently, type Person } from "#engine/index.ts";
import { findSession } from "#engine/sessions/index.ts";
import { orchestratorId } from "#protocol/names/session-ids.ts";
import { type DeadOrchestrator, listDead, lockIdentity, saveIdentity } from "../queries.ts";
import { ensureRunning } from "./ensure-running.ts";
import { DEAD_MS, planRestart, recentOf } from "./restart-policy.ts";

const BATCH = 50;

export async function reviveDead(engine: Engine, now: number): Promise<void> {
  const dead = await engine.store.read((reader) => listDead(reader, now - DEAD_MS, BATCH));
  await forEachIndependently(dead, (one) => reviveOne(engine, one));
}

async function reviveOne(
  engine: Engine,
  { org_id: orgId, user_id: userId, name }: DeadOrchestrator,
): Promise<void> {
  if (!(await recordAttempt(engine, { orgId, userId }))) return;
  await command(engine, (work) =>
    ensureRunning(work, { orgId, userId, name }, { isAutomatic: true }),
  );
}

/** Returns false if no attempt is due, if recovery has stopped, or if somebody else was faster. */
function recordAttempt(engine: Engine, person: Person): Promise<boolean> {
  return command(engine, async (work) => {
    const identity = await lockIdentity(work.tx, person);
    const session = await findSession(work.tx, orchestratorId(person.userId));
    if (!identity || session?.lifecycle !== "terminated") return false;
    const restarts = recentOf(JSON.parse(identity.restarts) as number[], work.now);
    const deadSince = session.archived_at ?? work.now;
    const past = { deadSince, restarts, stoppedAt: identity.stopped_at };
    const { state, dueAt } = planRestart(past, work.now);
    if (dueAt !== null && dueAt > work.now) return false;
    const isLast = state === "stopped";
    if (isLast) identity.stopped_at = work.now;
    else identity.restarts = JSON.stringify([...restarts, work.now]);
    await saveIdentity(work.tx, identity);
    if (isLast) {
      const { orgId, userId: subjectId } = person;
      const area = "orchestrator";
      await work.reportChange({ orgId, by: "system", area, action: "restarts_stopped", subjectId });
    }
    return !isLast;
  });
}
