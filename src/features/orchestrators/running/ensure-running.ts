/**
 * The single way in which a person's orchestrator is created and restored: for the page, on
 * request, automatically, and when somebody writes to it. It locks the identity's row, so that of
 * two concurrent calls one does the work and the other finds it done. It never removes anything:
 * history, threads, children and files stay.
 */
import type { SessionWriter, Work } from "#engine/index.ts";
import { changeLifecycle, createSession, restart, revive } from "#engine/sessions/index.ts";
import { orchestratorId } from "#protocol/names/session-ids.ts";
import type { IdentityChange } from "../contract.ts";
import { changeIdentity, lockOrchestrator, type NamedPerson } from "../identity/ensure-identity.ts";
import { findPreferences, saveIdentity } from "../queries.ts";
import type { IdentityRow } from "../schema.ts";
import { isHealthy } from "../views.ts";
import { applyPreferences, modelFor } from "./apply-preferences.ts";

export interface EnsuredOrchestrator {
  session: SessionWriter;
  identity: IdentityRow;
  did: "nothing" | "created" | "revived" | "woken";
}

export interface RunningRequest {
  /** Identity to use if the orchestrator is not running. */
  identity?: IdentityChange;
  /** Also wakes a hibernated orchestrator. */
  wakes?: boolean;
  /** Restarts a healthy orchestrator: stops its turns and keeps its queue. */
  restarts?: boolean;
  /** True if no person asked for it, so that earlier failures still count. */
  isAutomatic?: boolean;
}

export async function ensureRunning(
  work: Work,
  person: NamedPerson,
  {
    identity: identityChange = {},
    wakes = false,
    restarts = false,
    isAutomatic = false,
  }: RunningRequest = {},
): Promise<EnsuredOrchestrator> {
  const { session, identity, isNew } = await lockOrchestrator(work, person, identityChange);
  if (session && isHealthy(session.row)) {
    const did = restarts ? await renew(work, session) : await wakeIf(work, session, wakes);
    if (did === "revived") await auditRestart(work, person, "restarted", isAutomatic);
    return { session, identity, did };
  }
  if (!isNew) await changeIdentity(work, person, identity, identityChange);
  if (!isAutomatic) await forgetFailures(work, identity);
  const started = session ?? (await create(work, person, identity));
  started.row.title = identity.name;
  await applyPreferences(work, started);
  // An automatic restart leaves it hibernated, since nobody asked for a turn.
  if (session) await revive(work, session, isAutomatic ? "hibernated" : "active");
  const did = session ? "revived" : "created";
  await auditRestart(work, person, did, isAutomatic);
  return { session: started, identity, did };
}

async function renew(work: Work, session: SessionWriter): Promise<"revived"> {
  await restart(work, session);
  return "revived";
}

async function wakeIf(
  work: Work,
  session: SessionWriter,
  wakes: boolean,
): Promise<"nothing" | "woken"> {
  if (!wakes || session.row.lifecycle !== "hibernated") return "nothing";
  await changeLifecycle(work, session, "active");
  return "woken";
}

/** Clears earlier failures, because a person has taken over. */
async function forgetFailures(work: Work, identity: IdentityRow): Promise<void> {
  if (identity.restarts === "[]" && identity.stopped_at === null) return;
  identity.restarts = "[]";
  identity.stopped_at = null;
  await saveIdentity(work.tx, identity);
}

async function create(
  work: Work,
  { orgId, userId }: NamedPerson,
  { name }: IdentityRow,
): Promise<SessionWriter> {
  const preferences = await findPreferences(work.tx, { orgId, userId });
  return createSession(work, {
    id: orchestratorId(userId),
    orgId,
    ownerId: userId,
    createdBy: `user:${userId}`,
    title: name,
    kind: "orchestrator",
    purpose: "task",
    parent: null,
    requested: { runtime: true, model: true, persona: false, callback: false, enableMemory: true },
    runtime: "native",
    model: await modelFor(work, { orgId, userId }),
    repo: null,
    branch: null,
    scopeKey: null,
    queueMode: preferences.queue_mode ?? "followup",
    instructions: null,
    budgetMicros: null,
    projectDir: null,
    mayUsePath: false,
    agentName: null,
  });
}

function auditRestart(
  work: Work,
  { orgId, userId }: NamedPerson,
  action: string,
  isAutomatic: boolean,
): Promise<void> {
  const by = isAutomatic ? "system" : `user:${userId}`;
  return work.reportChange({ orgId, by, area: "orchestrator", action, subjectId: userId });
}
