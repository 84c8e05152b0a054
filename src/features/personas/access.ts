/** Permissions on personas. Another person's private persona is reported as not found. */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import { may, type Principal, requireMay, requireOrg } from "#engine/index.ts";
import { requireUser, type UserPrincipal } from "#features/policy/index.ts";
import { findPersona } from "./queries.ts";
import type { PersonaRow } from "./schema.ts";

/** Creator of the built-in personas. */
export const SYSTEM = "system";

/** Requires a person in their own org: other orgs are unknown to them. */
export function requirePerson(
  principal: Principal,
  orgId: string | undefined,
  action: "persona.read" | "persona.manage" | "persona.administer",
): UserPrincipal {
  requireOrg(principal, orgId);
  const person = requireUser(principal);
  requireMay(person, action);
  return person;
}

export function maySee(person: UserPrincipal, row: PersonaRow): boolean {
  const owned = row.visibility === "shared" ? {} : { ownerId: row.created_by };
  return may(person, "persona.read", { orgId: row.org_id, ...owned });
}

export function mayEdit(person: UserPrincipal, row: PersonaRow): boolean {
  if (!maySee(person, row) || row.archived_at !== null) return false;
  return (
    may(person, "persona.manage", { orgId: row.org_id, ownerId: row.created_by }) ||
    may(person, "persona.administer", { orgId: row.org_id })
  );
}

export async function requireVisible(
  reader: Reader,
  person: UserPrincipal,
  idOrSlug: string,
): Promise<PersonaRow> {
  const row = await findPersona(reader, person.orgId, idOrSlug);
  if (!row || !maySee(person, row)) throw notFound("persona");
  return row;
}

export async function requireEditable(
  reader: Reader,
  person: UserPrincipal,
  idOrSlug: string,
): Promise<PersonaRow> {
  const row = await requireVisible(reader, person, idOrSlug);
  if (row.archived_at !== null)
    throw new Refusal(
      "conflict",
      "persona_archived",
      "This persona was deleted and is kept only for the sessions that use it. Create a new one from an export.",
    );
  if (!mayEdit(person, row))
    throw new Refusal(
      "forbidden",
      "forbidden",
      "Only its creator or an admin can change a persona. Create your own from an export of it.",
    );
  return row;
}
