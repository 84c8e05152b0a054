/** Default persona of an org, for sessions without another choice. Admins set it; it is shared. */
import { Refusal } from "#base/refusal.ts";
import { principalKey, requireMay, type SettingChange, type Work } from "#engine/index.ts";
import type { UserPrincipal } from "#features/policy/index.ts";
import { requireVisible, SYSTEM } from "./access.ts";
import { lockOrg, saveDefaultId } from "./queries.ts";
import type { PersonaOrgRow, PersonaRow } from "./schema.ts";
import type { Author } from "./versions/versions.ts";

export async function setDefault(
  work: Work,
  person: UserPrincipal,
  idOrSlug: string,
  isDefault: boolean,
): Promise<PersonaRow> {
  const org = await lockOrg(work.tx, person.orgId);
  const row = await requireVisible(work.tx, person, idOrSlug);
  await decideDefault(work, person, org, row, isDefault);
  return row;
}

/** Sets or unsets the default, under the org's lock. A change to the present value needs no permission. */
export async function decideDefault(
  work: Work,
  person: UserPrincipal,
  org: PersonaOrgRow,
  row: PersonaRow,
  isDefault: boolean,
): Promise<void> {
  if (isDefault === (org.default_persona_id === row.id)) return;
  requireMay(person, "persona.administer");
  if (isDefault) requireShared(row);
  await saveDefaultId(work.tx, row.org_id, isDefault ? row.id : null);
  await work.reportChange(changeOf(row, person, isDefault ? "made_default" : "no_default"));
  announce(work, row);
}

function requireShared(row: PersonaRow): void {
  if (row.visibility === "shared" && row.archived_at === null) return;
  throw new Refusal(
    "conflict",
    "persona_not_shared",
    "The organisation's default persona must be shared. Share this persona first, or choose another.",
  );
}

export function changeOf(row: PersonaRow, author: Author, action: string): SettingChange {
  const by = author === SYSTEM ? SYSTEM : principalKey(author);
  return { orgId: row.org_id, by, area: "persona", action, subjectId: row.id };
}

export function announce({ tx, announcer }: Work, { id, org_id }: PersonaRow): void {
  tx.afterCommit(() => announcer.hint(`personas:${org_id}`, "persona", id));
}
