/** Deletes personas. A persona that sessions use stays until those sessions are gone. */
import { Refusal } from "#base/refusal.ts";
import type { Engine, Person, Work } from "#engine/index.ts";
import type { UserPrincipal } from "#features/policy/index.ts";
import { requireEditable } from "./access.ts";
import { announce, changeOf } from "./default-persona.ts";
import {
  deletePersona,
  holdPersonaAlone,
  listForgotten,
  listPrivateOf,
  lockOrg,
  savePersona,
} from "./queries.ts";
import type { PersonaRow } from "./schema.ts";
import { isInUse } from "./versions/version-queries.ts";

/** Removes a persona and returns its row; with `archived_at` if sessions still use it. */
export async function removePersona(
  work: Work,
  person: UserPrincipal,
  idOrSlug: string,
): Promise<PersonaRow> {
  const org = await lockOrg(work.tx, person.orgId);
  const row = await requireEditable(work.tx, person, idOrSlug);
  if (org.default_persona_id === row.id)
    throw new Refusal(
      "conflict",
      "persona_is_default",
      "This persona is the organisation's default. Ask an admin to set another default, or none, first.",
    );
  await holdPersonaAlone(work.tx, row.id);
  announce(work, row);
  const isUsed = await isInUse(work.tx, row.id);
  await work.reportChange(changeOf(row, person, isUsed ? "archived" : "removed"));
  if (!isUsed) {
    await deletePersona(work.tx, row.id);
    return row;
  }
  const archived = { ...row, archived_at: work.now, updated_at: work.now };
  await savePersona(work.tx, archived);
  return archived;
}

const BATCH = 50;

/** Deletes archived personas after the last session that used them is gone. */
export async function removeForgotten({ store }: Engine): Promise<void> {
  const ids = await store.read((reader) => listForgotten(reader, BATCH));
  for (const id of ids)
    await store.transaction(async (tx) => {
      const exists = await holdPersonaAlone(tx, id);
      if (exists && !(await isInUse(tx, id))) await deletePersona(tx, id);
    });
}

/** Deletes the private personas of a purged person; shared ones stay for everybody. */
export async function purgePrivate(work: Work, { orgId, userId }: Person): Promise<boolean> {
  const ids = await listPrivateOf(work.tx, orgId, userId, BATCH);
  for (const id of ids) await deletePersona(work.tx, id);
  return ids.length < BATCH;
}
