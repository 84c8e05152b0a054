/** Sides of a message, from the server's present rows. */
import type { Reader } from "#base/store/index.ts";
import type { SessionRow } from "#engine/index.ts";
import { findUser } from "#features/auth/index.ts";
import { findIdentity } from "#features/orchestrators/index.ts";
import type { MessageSide } from "./draft.ts";

export async function sessionSide(
  reader: Reader,
  row: Pick<SessionRow, "id" | "org_id" | "owner_id" | "title" | "kind">,
  thread: string | null = null,
): Promise<MessageSide> {
  const { id, org_id: orgId, owner_id: userId, title, kind } = row;
  const isOrchestrator = kind === "orchestrator" && userId !== null;
  const identity = isOrchestrator ? await findIdentity(reader, { orgId, userId }) : undefined;
  const name = identity?.name ?? title ?? id;
  return { kind: "session", id, ownerId: userId, name, handle: identity?.handle ?? null, thread };
}

export async function userSide(reader: Reader, userId: string): Promise<MessageSide> {
  const user = await findUser(reader, userId);
  return { kind: "user", id: userId, ownerId: userId, name: user?.name ?? userId };
}
