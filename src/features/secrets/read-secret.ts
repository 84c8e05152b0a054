/** Reads a value for the server's own use. The value must appear in no response, log line or transcript. */
import { Refusal } from "#base/refusal.ts";
import type { Sealer } from "#base/secrets/seal.ts";
import type { Engine } from "#engine/index.ts";
import { bindingOf } from "./change-secret.ts";
import { findSecret, noteUse, type SecretKey } from "./queries.ts";
import type { SecretRow } from "./schema.ts";

/** The reader of a value; without a person, only the organisation's secrets are considered. */
export interface SecretReader {
  orgId: string;
  userId?: string | null | undefined;
}

/** A use is recorded at most once a minute, so that reading seldom costs a write. */
const USE_NOTED_EVERY_MS = 60_000;

/** Reads the person's own secret first, then the organisation's. */
export async function readSecret(
  { store, clock }: Engine,
  sealer: Sealer,
  { orgId, userId }: SecretReader,
  name: string,
): Promise<string | undefined> {
  const row = await store.read(async (reader) => {
    const own = userId
      ? await findSecret(reader, { orgId, scope: "user", ownerId: userId, name })
      : undefined;
    return own ?? findSecret(reader, { orgId, scope: "org", ownerId: "", name });
  });
  if (!row) return undefined;
  const key = keyOf(row);
  const value = sealer.open(row.sealed, bindingOf(key));
  if (value === undefined) throw unreadable(name);
  if (row.last_used_at === null || clock.now() - row.last_used_at >= USE_NOTED_EVERY_MS) {
    await store.transaction((tx) => noteUse(tx, key, tx.now));
  }
  return value;
}

export function keyOf({ org_id, scope, owner_id, name }: SecretRow): SecretKey {
  return { orgId: org_id, scope, ownerId: owner_id, name };
}

export function unreadable(name: string): Refusal {
  return new Refusal(
    "unavailable",
    "secret_key_changed",
    `The secret ${name} cannot be decrypted: the server's secret key has changed since. Restore the old one (MUSTER_SECRET_KEY, or secret.key in the data folder), or set the secret again.`,
  );
}
