/** Who an orchestrator is, changed. Who has none yet gets one; it starts when it is needed. */
import type { Work } from "#engine/index.ts";
import { lockOrg } from "#features/auth/index.ts";
import { orchestratorId } from "#protocol/session-ids.ts";
import type { IdentityChange } from "./contract.ts";
import { changeIdentity, ensureIdentity, type NamedPerson } from "./ensure-identity.ts";
import type { IdentityRow } from "./schema.ts";

export async function renameOrchestrator(
  work: Work,
  person: NamedPerson,
  wish: IdentityChange,
): Promise<IdentityRow> {
  const { orgId, userId } = person;
  // In the order of all locks: the org, the session, and then what is known of it.
  if (wish.handle !== undefined) await lockOrg(work.tx, orgId);
  const session = await work.session(orchestratorId(userId));
  const { identity, isNew } = await ensureIdentity(work, person, wish);
  if (!isNew) await changeIdentity(work, person, identity, wish);
  if (session && session.row.title !== identity.name) {
    session.row.title = identity.name;
    session.record({ type: "session_updated", reason: "changed", data: { fields: ["title"] } });
  }
  const by = `user:${userId}`;
  await work.tell({ orgId, by, area: "orchestrator", action: "changed", subjectId: userId });
  return identity;
}
