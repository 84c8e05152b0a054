/** Sets and removes secrets. */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Sealer } from "#base/secrets/seal.ts";
import { type Principal, principalKey, type SettingChange, type Work } from "#engine/index.ts";
import { MAX_SECRET_BYTES, SECRET_NAME, SECRET_NAME_RULE, type SecretChange } from "./contract.ts";
import {
  countSecrets,
  deleteSecret,
  lockSecret,
  type SecretKey,
  type SecretOwner,
  saveSecret,
} from "./queries.ts";
import type { SecretRow } from "./schema.ts";

export const MAX_SECRETS = 200;

export async function setSecret(
  work: Work,
  sealer: Sealer,
  key: SecretKey,
  { value, description }: SecretChange,
  principal: Principal,
): Promise<SecretRow> {
  requireFit(value);
  const before = await lockSecret(work.tx, key);
  if (!before) {
    requireName(key.name);
    await requireRoom(work, key);
  }
  const row = await saveSecret(work.tx, {
    org_id: key.orgId,
    scope: key.scope,
    owner_id: key.ownerId,
    name: key.name,
    description: description === undefined ? (before?.description ?? null) : description || null,
    sealed: sealer.seal(value, bindingOf(key)),
    version: 1,
    created_by: principal.kind === "user" ? principal.userId : principal.name,
    created_at: work.now,
    updated_at: work.now,
    last_used_at: null,
  });
  await work.reportChange(changeOf(key, principal, before ? "rotated" : "set"));
  announce(work, key);
  return row;
}

export async function removeSecret(
  work: Work,
  key: SecretKey,
  principal: Principal,
): Promise<SecretRow> {
  const row = await lockSecret(work.tx, key);
  if (!row) throw notFound("secret");
  await deleteSecret(work.tx, key);
  await work.reportChange(changeOf(key, principal, "removed"));
  announce(work, key);
  return row;
}

/** Describes the change. A secret's name, as somebody typed it, is its only identifier. */
function changeOf(
  { orgId, scope }: SecretKey,
  principal: Principal,
  action: string,
): SettingChange {
  const area = scope === "org" ? "org_secret" : "secret";
  return { orgId, by: principalKey(principal), area, action, subjectId: null };
}

/** Fields that a sealed value is bound to; their order must never change. */
export function bindingOf({ orgId, scope, ownerId, name }: SecretKey): readonly string[] {
  return [orgId, scope, ownerId, name];
}

/** Checks the name of a new secret. An older secret with a longer name can still be given another value. */
function requireName(name: string): void {
  if (SECRET_NAME.test(name)) return;
  throw new Refusal("invalid", "invalid_name", `This name cannot be used. ${SECRET_NAME_RULE}`);
}

function requireFit(value: string): void {
  if (Buffer.byteLength(value) > MAX_SECRET_BYTES) {
    throw new Refusal(
      "too_large",
      "secret_too_large",
      `A secret holds at most ${MAX_SECRET_BYTES / 1024} KiB. Keep only the key or token itself here.`,
    );
  }
}

async function requireRoom({ tx }: Work, owner: SecretOwner): Promise<void> {
  if ((await countSecrets(tx, owner)) < MAX_SECRETS) return;
  throw new Refusal(
    "limit",
    "too_many_secrets",
    `There are already ${MAX_SECRETS} secrets. Remove one that is not used.`,
  );
}

/** Announces that some secret has changed, without its name: only people who may read the list see that. */
function announce({ tx, announcer }: Work, { scope, ownerId }: SecretKey): void {
  const topic = scope === "org" ? "secrets" : `user:${ownerId}`;
  tx.afterCommit(() => announcer.hint(topic, "secret", "secrets"));
}
