/** Giving a secret a value, and removing it. */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Sealer } from "#base/seal.ts";
import type { Work } from "#engine/index.ts";
import { MAX_SECRET_BYTES, SECRET_NAME, type SecretChange } from "./contract.ts";
import {
  countSecrets,
  deleteSecret,
  lockSecret,
  type SecretKey,
  type Shelf,
  saveSecret,
} from "./queries.ts";
import type { SecretRow } from "./schema.ts";

export const MAX_SECRETS = 200;

export async function setSecret(
  work: Work,
  sealer: Sealer,
  key: SecretKey,
  { value, description }: SecretChange,
  author: string,
): Promise<SecretRow> {
  requireFit(key.name, value);
  const before = await lockSecret(work.tx, key);
  if (!before) await requireRoom(work, key);
  const row = await saveSecret(work.tx, {
    org_id: key.orgId,
    scope: key.scope,
    owner_id: key.ownerId,
    name: key.name,
    description: description === undefined ? (before?.description ?? null) : description || null,
    sealed: sealer.seal(value, placeOf(key)),
    version: 1,
    created_by: author,
    created_at: work.now,
    updated_at: work.now,
    last_used_at: null,
  });
  announce(work, key);
  return row;
}

export async function removeSecret(work: Work, key: SecretKey): Promise<SecretRow> {
  const row = await lockSecret(work.tx, key);
  if (!row) throw notFound("secret");
  await deleteSecret(work.tx, key);
  announce(work, key);
  return row;
}

/** What a value is bound to; the order must never change. */
export function placeOf({ orgId, scope, ownerId, name }: SecretKey): readonly string[] {
  return [orgId, scope, ownerId, name];
}

function requireFit(name: string, value: string): void {
  if (!SECRET_NAME.test(name)) {
    throw new Refusal(
      "invalid",
      "secret_name_invalid",
      "This name cannot be used. Begin with a letter; take up to 100 letters, digits, dots, dashes and underscores, such as GITHUB_TOKEN.",
    );
  }
  if (Buffer.byteLength(value) > MAX_SECRET_BYTES) {
    throw new Refusal(
      "too_large",
      "secret_too_large",
      `A secret holds at most ${MAX_SECRET_BYTES / 1024} KiB. Keep only the key or token itself here.`,
    );
  }
}

async function requireRoom({ tx }: Work, shelf: Shelf): Promise<void> {
  if ((await countSecrets(tx, shelf)) < MAX_SECRETS) return;
  throw new Refusal(
    "limit",
    "too_many_secrets",
    `There are ${MAX_SECRETS} secrets already. Remove one that is not used.`,
  );
}

function announce({ tx, announcer }: Work, { scope, ownerId, name }: SecretKey): void {
  const topic = scope === "org" ? "secrets" : `user:${ownerId}`;
  tx.afterCommit(() => announcer.hint(topic, "secret", name));
}
