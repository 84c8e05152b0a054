/**
 * Changes the identity of an orchestrator. A person without one gets an identity; the session
 * starts when it is needed.
 */
import type { Work } from "#engine/index.ts";
import type { IdentityChange } from "../contract.ts";
import type { IdentityRow } from "../schema.ts";
import { changeIdentity, lockOrchestrator, type NamedPerson } from "./ensure-identity.ts";

export async function renameOrchestrator(
  work: Work,
  person: NamedPerson,
  change: IdentityChange,
): Promise<IdentityRow> {
  const { orgId, userId } = person;
  const { session, identity, isNew } = await lockOrchestrator(work, person, change);
  if (!isNew) await changeIdentity(work, person, identity, change);
  if (session && session.row.title !== identity.name) {
    session.row.title = identity.name;
    session.record({ type: "session_updated", reason: "changed", data: { fields: ["title"] } });
  }
  const by = `user:${userId}`;
  await work.reportChange({
    orgId,
    by,
    area: "orchestrator",
    action: "changed",
    subjectId: userId,
  });
  return identity;
}
