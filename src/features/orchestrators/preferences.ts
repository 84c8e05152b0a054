/** Preferences of people for their orchestrators, and admin settings for all of them. */
import { command, type Engine, type Person, type Work } from "#engine/index.ts";
import { requireModelAvailable } from "#engine/runs/index.ts";
import type { UserPrincipal } from "#features/auth/index.ts";
import { orchestratorId } from "#protocol/names/session-ids.ts";
import type { Preferences, PreferencesChange } from "./contract.ts";
import { findFixedModel, findPreferences, saveFixedModel, savePreferences } from "./queries.ts";
import { applyPreferences, refuseFixedModel } from "./running/apply-preferences.ts";
import type { PreferencesRow } from "./schema.ts";

export async function readPreferences({ store }: Engine, person: Person): Promise<Preferences> {
  return preferencesView(await store.read((reader) => findPreferences(reader, person)));
}

/** Saves preferences and applies them to an existing orchestrator. */
export function changePreferences(
  engine: Engine,
  principal: UserPrincipal,
  change: PreferencesChange,
): Promise<Preferences> {
  const { orgId, userId } = principal;
  const person = { orgId, userId };
  return command(engine, async (work) => {
    const session = await work.session(orchestratorId(userId));
    if (typeof change.model === "string") {
      await refuseFixedModel(work, orgId);
      await requireModelAvailable(work.tx, principal, change.model);
    }
    const row = await findPreferences(work.tx, person);
    if (change.idleTimeoutMs !== undefined) row.idle_ms = change.idleTimeoutMs;
    if (change.queueMode !== undefined) row.queue_mode = change.queueMode;
    if (change.model !== undefined) row.model = change.model;
    await savePreferences(work.tx, row);
    if (session) await applyPreferences(work, session);
    return preferencesView(row);
  });
}

function preferencesView({ idle_ms, queue_mode, model }: PreferencesRow): Preferences {
  return { idleTimeoutMs: idle_ms, queueMode: queue_mode, model };
}

export async function readSettings({ store }: Engine, orgId: string) {
  return { model: await store.read((reader) => findFixedModel(reader, orgId)) };
}

/** Orchestrators apply the setting with their next prompt. */
export function changeSettings(
  engine: Engine,
  principal: UserPrincipal,
  { model }: { model: string | null },
): Promise<{ model: string | null }> {
  const { orgId, userId } = principal;
  return command(engine, async (work: Work) => {
    if (model !== null) await requireModelAvailable(work.tx, principal, model);
    await saveFixedModel(work.tx, orgId, model);
    const action = model === null ? "model_freed" : "model_fixed";
    await work.reportChange({
      orgId,
      by: `user:${userId}`,
      area: "orchestrator",
      action,
      subjectId: null,
    });
    return { model };
  });
}
