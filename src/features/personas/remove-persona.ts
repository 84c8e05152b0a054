/** Deleting personas. What sessions use stays until they are gone. */
import { Refusal } from "#base/refusal.ts";
import type { Engine, Work } from "#engine/index.ts";
import type { UserPrincipal } from "#features/policy/index.ts";
import { requireEditable } from "./access.ts";
import { announce } from "./default-persona.ts";
import { deletePersona, holdPersonaAlone, listForgotten, lockOrg, savePersona } from "./queries.ts";
import type { PersonaRow } from "./schema.ts";
import { isInUse } from "./version-queries.ts";

/** The persona as it was; with `archived_at` when sessions still use it. */
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
      "This persona is the default of the organisation. Let an admin set another default, or none, first.",
    );
  await holdPersonaAlone(work.tx, row.id);
  announce(work, row);
  if (!(await isInUse(work.tx, row.id))) {
    await deletePersona(work.tx, row.id);
    return row;
  }
  const archived = { ...row, archived_at: work.now, updated_at: work.now };
  await savePersona(work.tx, archived);
  return archived;
}

const BATCH = 50;

/** Archived personas go when the last session that used them is gone. */
export async function removeForgotten({ store }: Engine): Promise<void> {
  const ids = await store.read((reader) => listForgotten(reader, BATCH));
  for (const id of ids)
    await store.transaction(async (tx) => {
      const isThere = await holdPersonaAlone(tx, id);
      if (isThere && !(await isInUse(tx, id))) await deletePersona(tx, id);
    });
}
