/** Finds the server's secret key at a start, and refuses one that the database was not written with. */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import type { Config } from "#base/config.ts";
import { auditHeadFile } from "#base/machine/home-files.ts";
import { writePrivateFile } from "#base/machine/private-files.ts";
import {
  findSecretKey,
  forgetStatements,
  keyRefusal,
  type Query,
  recordStatement,
  secretKeyFile,
  verifySecretKey,
} from "#base/secrets/secret-key.ts";
import type { Store } from "#base/store/index.ts";
import { ENCRYPTED_COLUMNS } from "../features.ts";

export interface OpenedKey {
  secretKey: string;
  /** True when older encrypted data was removed, because nothing can open it. */
  hasForgotten: boolean;
}

const NEXT = "npx muster up --forget-encrypted";

/** Makes a key only for a database that was never written with one. */
export async function openSecretKey(
  store: Store,
  config: Pick<Config, "home" | "secretKey" | "forgetEncrypted">,
): Promise<OpenedKey> {
  const { home } = config;
  const known = findSecretKey(config.secretKey, home);
  const verdict = await store.read((reader) =>
    verifySecretKey(queryOf(reader), store.dialect, ENCRYPTED_COLUMNS, known),
  );
  const isBad = verdict === "missing" || verdict === "wrong";
  if (isBad && !config.forgetEncrypted) throw keyRefusal(verdict, home, NEXT);
  const secretKey = known ?? randomBytes(32).toString("base64url");
  if (known === undefined) writePrivateFile(secretKeyFile(home), `${secretKey}\n`);
  if (isBad) await forgetEncrypted(store, home);
  return { secretKey, hasForgotten: isBad };
}

/** Runs after the migrations. Of two servers that start at once, the one with another key is refused. */
export async function recordSecretKey(
  store: Store,
  secretKey: string,
  home: string,
): Promise<void> {
  const verdict = await store.transaction(async (tx) => {
    await tx.execute({ sql: recordStatement(secretKey, tx.now), parameters: [] });
    return verifySecretKey(queryOf(tx), tx.dialect, [], secretKey);
  });
  if (verdict === "wrong") throw keyRefusal(verdict, home, NEXT);
}

async function forgetEncrypted(store: Store, home: string): Promise<void> {
  await store.transaction(async (tx) => {
    for (const sql of await forgetStatements(queryOf(tx), tx.dialect, ENCRYPTED_COLUMNS))
      await tx.execute({ sql, parameters: [] });
  });
  rmSync(auditHeadFile(home), { force: true });
}

function queryOf(reader: {
  query<R>(compiled: { sql: string; parameters: readonly unknown[] }): Promise<R[]>;
}): Query {
  return (sql) => reader.query<Record<string, unknown>>({ sql, parameters: [] });
}
