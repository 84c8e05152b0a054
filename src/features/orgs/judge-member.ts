/** Denies calls in sessions of former members, whose work is being stopped. */
import type { Judge } from "#engine/tools/index.ts";
import { findUser, isActiveMember } from "#features/auth/index.ts";

export const judgeMember: Judge = async ({ tx }, { session }) => {
  const { owner_id: ownerId } = session.row;
  const person = ownerId === null ? undefined : await findUser(tx, ownerId);
  if (!person || isActiveMember(person)) return undefined;
  const reason = "The owner of this session has left the organisation, so nothing is done.";
  return { verdict: "deny", reason };
};
