/**
 * Purges the data of a former member. The request removes their name at once, so that nobody can return to an
 * account that is being purged; the rest goes in batches, and after a crash the purge continues where it was.
 * Their row stays without content, because others refer to it.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import {
  command,
  type Engine,
  forEachIndependently,
  type Kernel,
  type Work,
} from "#engine/index.ts";
import {
  isActiveMember,
  lockOrg,
  lockUser,
  type PersonRow,
  saveUser,
  type UserPrincipal,
} from "#features/auth/index.ts";
import type { Member } from "./contract.ts";
import { memberChange, memberView, requireStillAdmin } from "./members.ts";
import { findPurge, finishPurge, insertPurge, listOpenPurges } from "./purge-queries.ts";
import { forgetInvited } from "./queries.ts";

export const REMOVED_NAME = "Removed person";
/** Batches per round; failed ones do not count, otherwise a few of them would block all others. */
const AT_ONCE = 5;
const MAX_LOOKED_AT = 100;

/** Requests a purge; a repeated request returns its progress. */
export async function requestPurge(
  work: Work,
  by: UserPrincipal,
  userId: string,
  confirm: string,
): Promise<Member> {
  const { tx } = work;
  await lockOrg(tx, by.orgId);
  const person = await lockUser(tx, userId);
  if (person?.org_id !== by.orgId) throw notFound("member");
  await requireStillAdmin(tx, by);
  if (isActiveMember(person)) throw stillMember();
  const known = await findPurge(tx, userId);
  if (known) return memberView(person, by, known);
  requireConfirmation(person, confirm);
  await forgetInvited(tx, userId, person.email);
  const nobody = { ...person, name: REMOVED_NAME, email: null, timezone: "UTC", locale: "en" };
  await saveUser(tx, nobody);
  const purge = {
    user_id: userId,
    org_id: by.orgId,
    asked_by: by.userId,
    asked_at: tx.now,
    done_at: null,
  };
  await insertPurge(tx, purge);
  await work.reportChange(memberChange(by, userId, "purge_asked"));
  return memberView(nobody, by, purge);
}

/** Runs a batch for each pending purge. */
export async function continuePurges(
  engine: Engine,
  { purgePerson }: Pick<Kernel, "purgePerson">,
): Promise<void> {
  const open = await engine.store.read((reader) => listOpenPurges(reader, MAX_LOOKED_AT));
  let batches = 0;
  await forEachIndependently(open, async ({ org_id: orgId, user_id: userId }) => {
    if (batches >= AT_ONCE) return;
    const isDone = await purgePerson({ orgId, userId });
    batches += 1;
    if (!isDone) return;
    await engine.store.scrub?.();
    await command(engine, async (work) => {
      if (!(await finishPurge(work.tx, userId))) return;
      const done = { orgId, by: "system", area: "member", action: "purged", subjectId: userId };
      await work.reportChange(done);
    });
  });
}

/** Requires the name or address as confirmation, against a mistaken person. */
function requireConfirmation({ name, email }: PersonRow, confirm: string): void {
  const given = confirm.trim();
  if (given === name || (email !== null && given.toLowerCase() === email)) return;
  throw new Refusal(
    "invalid",
    "confirmation_wrong",
    "The confirmation does not match. To delete all their data permanently, send their name or e-mail address as confirm.",
  );
}

function stillMember(): Refusal {
  return new Refusal(
    "conflict",
    "still_member",
    "They are still a member of the organisation. Remove them first; then their data can be purged.",
  );
}
