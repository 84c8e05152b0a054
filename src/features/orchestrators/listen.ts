/**
 * Keeps an orchestrator consistent when it is changed like any other session. Changes by its owner
 * become preferences; admin settings apply from the next prompt on.
 */
import {
  type KernelEvent,
  type Listener,
  may,
  type SessionWriter,
  type Work,
} from "#engine/index.ts";
import { orchestratorId } from "#protocol/names/session-ids.ts";
import { findPreferences, savePreferences } from "./queries.ts";
import { modelFor, refuseFixedModel } from "./running/apply-preferences.ts";
import { ensureRunning } from "./running/ensure-running.ts";
import { isHealthy } from "./views.ts";

export const listen: Listener = async (work, event) => {
  if (event.type === "session_changed") return keepPreferences(work, event);
  if (event.type === "session_missing") return makeOnFirstUse(work, event);
  if (event.type === "session_waking") return bringBack(work, event);
  if (event.type === "prompt_admitted") return setModel(work, event.session);
};

async function keepPreferences(
  work: Work,
  { session, fields }: Extract<KernelEvent, { type: "session_changed" }>,
): Promise<void> {
  const { kind, org_id: orgId, owner_id: userId, model, queue_mode } = session.row;
  if (kind !== "orchestrator" || userId === null) return;
  if (!fields.includes("model") && !fields.includes("queueMode")) return;
  if (fields.includes("model")) await refuseFixedModel(work, orgId);
  const preferences = await findPreferences(work.tx, { orgId, userId });
  if (fields.includes("model")) preferences.model = model;
  if (fields.includes("queueMode")) preferences.queue_mode = queue_mode;
  await savePreferences(work.tx, preferences);
}

/** Creates an orchestrator for a person who writes to it before opening the page. */
async function makeOnFirstUse(
  work: Work,
  { sessionId, principal }: Extract<KernelEvent, { type: "session_missing" }>,
): Promise<void> {
  if (principal.kind !== "user" || sessionId !== orchestratorId(principal.userId)) return;
  if (may(principal, "session.create", { orgId: principal.orgId }))
    await ensureRunning(work, principal);
}

/**
 * Restores an ended orchestrator when its owner writes to it, in the same way as everywhere else.
 */
async function bringBack(
  work: Work,
  { session, by }: Extract<KernelEvent, { type: "session_waking" }>,
): Promise<void> {
  const { id, org_id: orgId, owner_id: userId, title } = session.row;
  if (by !== "user" || userId === null || id !== orchestratorId(userId)) return;
  if (!isHealthy(session.row)) await ensureRunning(work, { orgId, userId, name: title ?? "" });
}

async function setModel(work: Work, { row }: SessionWriter): Promise<void> {
  if (row.kind !== "orchestrator" || row.owner_id === null) return;
  row.model = await modelFor(work, { orgId: row.org_id, userId: row.owner_id });
}
