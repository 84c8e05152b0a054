/**
 * Resolves `to` into an address. Permission is checked separately; a recipient out of reach gets
 * the same error as a missing one.
 */

import { Refusal } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import type { SessionRow } from "#engine/index.ts";
import { findUser, isActiveMember, listMembers, type PersonRow } from "#features/auth/index.ts";
import { findByHandle } from "#features/orchestrators/index.ts";
import { ORCHESTRATOR, orchestratorId, resolveSessionId } from "#protocol/names/session-ids.ts";
import { isOrchestrator } from "#protocol/sessions.ts";

export interface Address {
  kind: "session" | "user";
  id: string;
}

export type ResolvedAddress =
  | Address
  | { kind: "nobody" }
  | { kind: "several"; people: PersonRow[] };

/** Sender on whose behalf a name is resolved: a person or one of their sessions. */
export interface AddressScope {
  orgId: string;
  ownerId: string | null;
  /** Null if the person writes. */
  session: SessionRow | null;
}

const NOBODY: ResolvedAddress = { kind: "nobody" };
const PERSON = "@user:";
const SESSION_ID = /^(?:ses_|orchestrator:)/;

export async function resolveAddress(
  reader: Reader,
  scope: AddressScope,
  to: string,
): Promise<ResolvedAddress> {
  const { orgId, ownerId } = scope;
  if (to.toLowerCase() === ORCHESTRATOR) return ownOrchestrator(scope);
  if (to.toLowerCase().startsWith(PERSON))
    return findPerson(reader, scope, to.slice(PERSON.length).trim());
  if (to.startsWith("@")) {
    const identity = await findByHandle(reader, orgId, to.slice(1));
    return identity ? { kind: "session", id: orchestratorId(identity.user_id) } : NOBODY;
  }
  if (to.startsWith("usr_")) {
    const user = await findUser(reader, to);
    return user && user.org_id === orgId && isActiveMember(user)
      ? { kind: "user", id: to }
      : NOBODY;
  }
  const id = resolveSessionId(to, ownerId);
  if (SESSION_ID.test(id)) return { kind: "session", id };
  return findPerson(reader, scope, to);
}

/** The parent session, or the owner's orchestrator if there is no parent. */
function ownOrchestrator({ ownerId, session }: AddressScope): ResolvedAddress {
  const parentId = session?.parent_session_id ?? null;
  if (parentId !== null) return { kind: "session", id: parentId };
  return ownerId === null ? NOBODY : { kind: "session", id: orchestratorId(ownerId) };
}

/** Names that differ only in case or Unicode composition are equal. */
const fold = (text: string) => text.normalize("NFC").toLowerCase();

async function findPerson(
  reader: Reader,
  scope: AddressScope,
  name: string,
): Promise<ResolvedAddress> {
  const wanted = fold(name);
  const members = (await listMembers(reader, scope.orgId)).filter(({ id }) => mayName(scope, id));
  const byId = members.find(({ id }) => id === name);
  const people = byId ? [byId] : members.filter((member) => hasName(member, wanted));
  const [first, second] = people;
  if (!first) return NOBODY;
  return second ? { kind: "several", people } : { kind: "user", id: first.id };
}

/** Only people and orchestrators write to other people, so other sessions cannot find out names. */
function mayName({ session, ownerId }: AddressScope, userId: string): boolean {
  return session === null || isOrchestrator(session) || userId === ownerId;
}

function hasName({ name, email }: PersonRow, wanted: string): boolean {
  const address = fold(email ?? "");
  const local = address.slice(0, Math.max(0, address.lastIndexOf("@")));
  return wanted !== "" && [fold(name), address, local].includes(wanted);
}

const MAX_NAMED = 10;

export async function requireResolved(
  reader: Reader,
  scope: AddressScope,
  to: string,
): Promise<Address> {
  const resolved = await resolveAddress(reader, scope, to);
  if (resolved.kind === "nobody") throw recipientNotFound(to);
  if (resolved.kind !== "several") return resolved;
  const ids = resolved.people.slice(0, MAX_NAMED).map(({ id }) => id);
  throw new Refusal(
    "conflict",
    "recipient_ambiguous",
    `Several people are called ${JSON.stringify(to)}. Use one of these ids: ${ids.join(", ")}.`,
  );
}

/** Missing, deleted and unreachable recipients get the same error. */
export function recipientNotFound(to: string): Refusal {
  return new Refusal(
    "not_found",
    "recipient_not_found",
    `There is no recipient ${JSON.stringify(to)} that you can write to. Use a session's id, orchestrator, the @handle of an agent, or a person's name, @user:name or id.`,
  );
}
