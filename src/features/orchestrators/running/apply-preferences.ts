/** Settings of an orchestrator: its owner's preferences within the admin settings. */
import { Refusal } from "#base/refusal.ts";
import type { Person, SessionWriter, Work } from "#engine/index.ts";
import { findFixedModel, findPreferences } from "../queries.ts";

/** The admins' model, else the owner's preference, else the server's default. */
export async function modelFor(work: Work, person: Person): Promise<string | null> {
  const fixed = await findFixedModel(work.tx, person.orgId);
  return fixed ?? (await findPreferences(work.tx, person)).model ?? work.defaults.model;
}

export async function applyPreferences(work: Work, { row }: SessionWriter): Promise<void> {
  if (row.owner_id === null) return;
  const person = { orgId: row.org_id, userId: row.owner_id };
  const { idle_ms, queue_mode } = await findPreferences(work.tx, person);
  row.idle_ms = idle_ms;
  row.queue_mode = queue_mode ?? "followup";
  row.model = await modelFor(work, person);
}

export async function refuseFixedModel(work: Work, orgId: string): Promise<void> {
  if ((await findFixedModel(work.tx, orgId)) === null) return;
  throw new Refusal(
    "forbidden",
    "model_fixed",
    "An admin has set the model of all orchestrators. Ask them to change it.",
  );
}
