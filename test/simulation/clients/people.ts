/** The callers. The engine checks rights; people here also try forbidden actions. */
import type { Principal } from "#engine/index.ts";
import type { Random } from "#test/random.ts";
import type { SessionModel } from "../oracle/model.ts";
import { ORG } from "../world.ts";

const user = (id: string, role: "admin" | "member"): Extract<Principal, { kind: "user" }> => ({
  kind: "user",
  orgId: ORG,
  userId: id,
  name: id,
  role,
  scopes: ["*"],
  channel: "api" as const,
});

export const users = [
  user("usr_ann", "admin"),
  user("usr_bob", "member"),
  user("usr_eve", "member"),
];
export const admin = users[0] as Principal;
export const system: Principal = { kind: "system", orgId: ORG, name: "clock" };

export function ownerOf(session: SessionModel): Principal {
  return users.find((candidate) => candidate.userId === session.ownerId) ?? system;
}

export function strangerTo(session: SessionModel): Principal {
  return users.find((candidate) => candidate.userId !== session.ownerId) ?? system;
}

/** Usually the owner; else the parent session's agent, or the system. */
export function authorFor(random: Random, session: SessionModel): Principal {
  if (random.chance(0.7)) return ownerOf(session);
  if (session.parentId === null) return system;
  return {
    kind: "session",
    orgId: ORG,
    sessionId: session.parentId,
    ownerId: session.ownerId,
    name: session.parentId,
  };
}
