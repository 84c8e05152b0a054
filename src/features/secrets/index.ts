/**
 * Secrets: values of a person or the organisation, stored encrypted and used by name. Only the server's own
 * code reads a value.
 */
import { createSealer } from "#base/secrets/seal.ts";
import type { EncryptedColumn } from "#base/secrets/secret-key.ts";
import type { Engine, Feature } from "#engine/index.ts";
import { deleteSecretsOf } from "./queries.ts";
import { readSecret, type SecretReader } from "./read-secret.ts";
import { secretRoutes } from "./routes.ts";
import { secretMigrations } from "./schema.ts";

export interface Secrets {
  feature: Feature;
  /**
   * Returns a value by name: the person's own, else the organisation's. Refuses with `secret_key_changed`
   * when the stored value cannot be read.
   */
  read(engine: Engine, reader: SecretReader, name: string): Promise<string | undefined>;
}

export const secretColumn: EncryptedColumn = {
  table: "secrets",
  column: "sealed",
  purpose: "muster secrets",
  bindingOf: ({ org_id = "", scope = "", owner_id = "", name = "" }) => [
    org_id,
    scope,
    owner_id,
    name,
  ],
  forget: "row",
};

export function createSecrets({ secretKey }: { secretKey: string }): Secrets {
  const sealer = createSealer(secretKey, secretColumn.purpose);
  return {
    feature: {
      name: "secrets",
      migrations: secretMigrations,
      routes: secretRoutes(sealer),
      async purgePerson(work, { orgId, userId }) {
        await deleteSecretsOf(work.tx, { orgId, scope: "user", ownerId: userId });
        return true;
      },
    },
    read: (engine, reader, name) => readSecret(engine, sealer, reader, name),
  };
}
