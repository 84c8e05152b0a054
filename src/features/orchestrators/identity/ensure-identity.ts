/**
 * A person's orchestrator and its identity, both locked. A person without an identity gets one
 * under their own name.
 */
import { cleanText } from "#base/text/clean-text.ts";
import type { Person, SessionWriter, Work } from "#engine/index.ts";
import { lockOrg } from "#features/auth/index.ts";
import { orchestratorId } from "#protocol/names/session-ids.ts";
import type { IdentityChange } from "../contract.ts";
import { insertIdentity, listTakenHandles, lockIdentity, saveIdentity } from "../queries.ts";
import type { IdentityRow } from "../schema.ts";
import { settleAvatar } from "./avatar.ts";
import { type HandleColumns, requireFreeHandle } from "./claim-handle.ts";
import { freeHandle, handleFrom, handleKey, handleStem, usableHandle } from "./handles.ts";

const MAX_NAME_CHARS = 60;

export interface NamedPerson extends Person {
  name: string;
}

export interface LockedOrchestrator {
  session: SessionWriter | undefined;
  identity: IdentityRow;
  isNew: boolean;
}

/**
 * Takes the locks in the common order: the organisation if a handle is given, the session, the
 * identity.
 */
export async function lockOrchestrator(
  work: Work,
  person: NamedPerson,
  change: IdentityChange,
): Promise<LockedOrchestrator> {
  const id = orchestratorId(person.userId);
  if (change.handle !== undefined) await lockOrg(work.tx, person.orgId);
  const session = await work.session(id);
  const identity = await ensureIdentity(work, person, change);
  // A concurrent command may have created the session meanwhile.
  return { ...identity, session: session ?? (await work.session(id)) };
}

async function ensureIdentity(
  work: Work,
  person: NamedPerson,
  change: IdentityChange,
): Promise<{ identity: IdentityRow; isNew: boolean }> {
  const known = await lockIdentity(work.tx, person);
  if (known) return { identity: known, isNew: false };
  // Serializes concurrent creations, and keeps handles unique.
  await lockOrg(work.tx, person.orgId);
  const made = await lockIdentity(work.tx, person);
  if (made) return { identity: made, isNew: false };
  const identity = {
    ...defaultIdentity(person, work.now),
    ...(await firstHandle(work, person, change)),
  };
  await applyChange(work, person, identity, change);
  await insertIdentity(work.tx, identity);
  return { identity, isNew: true };
}

/** Applies a change to the row and saves it; the caller took the locks for the same change. */
export async function changeIdentity(
  work: Work,
  person: Person,
  identity: IdentityRow,
  change: IdentityChange,
): Promise<void> {
  if (change.handle !== undefined && handleKey(change.handle) !== identity.handle_key)
    await requireFreeHandle(work.tx, person, change.handle);
  await applyChange(work, person, identity, change);
  identity.updated_at = work.now;
  await saveIdentity(work.tx, identity);
}

async function applyChange(
  work: Work,
  person: Person,
  identity: IdentityRow,
  change: IdentityChange,
): Promise<void> {
  if (change.handle !== undefined) Object.assign(identity, handleColumns(change.handle));
  if (change.name !== undefined) identity.name = change.name;
  if (change.avatar !== undefined)
    identity.avatar = await settleAvatar(work.tx, person, change.avatar, identity.avatar);
  if (change.style !== undefined) identity.style = change.style;
  if (change.customInstructions !== undefined)
    identity.custom_instructions = change.customInstructions || null;
  if (change.acceptsAgentMail !== undefined) identity.accepts_agent_mail = change.acceptsAgentMail;
}

async function firstHandle(
  work: Work,
  person: NamedPerson,
  { handle }: IdentityChange,
): Promise<HandleColumns> {
  if (handle !== undefined) {
    await requireFreeHandle(work.tx, person, handle);
    return handleColumns(handle);
  }
  const wanted = usableHandle(handleFrom(person.name));
  const taken = await listTakenHandles(work.tx, person, handleKey(handleStem(wanted)));
  return handleColumns(freeHandle(wanted, taken));
}

const handleColumns = (handle: string): HandleColumns => ({
  handle,
  handle_key: handleKey(handle),
});

function defaultIdentity({ orgId, userId, name }: NamedPerson, now: number): IdentityRow {
  const short = cleanText(name)
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " ")
    .trim();
  return {
    org_id: orgId,
    user_id: userId,
    name: short === "" ? "Agent" : `${short.slice(0, MAX_NAME_CHARS).toWellFormed()}'s agent`,
    handle: "",
    handle_key: "",
    avatar: null,
    style: "professional",
    custom_instructions: null,
    accepts_agent_mail: "none",
    restarts: "[]",
    stopped_at: null,
    created_at: now,
    updated_at: now,
  };
}
