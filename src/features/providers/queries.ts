/** SQL on model providers' settings. No other file has any. */
import { type Reader, statements, type Tx } from "#base/store/index.ts";
import type { ProviderRow, ProviderTables } from "./schema.ts";

const prepare = statements<ProviderTables>();

interface ProviderKey {
  orgId: string;
  name: string;
}

const selectOne = prepare<ProviderKey, ProviderRow>((db, p) =>
  db
    .selectFrom("provider_settings")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("name", "=", p("name")),
);
export function findProvider(reader: Reader, key: ProviderKey): Promise<ProviderRow | undefined> {
  return reader.first(selectOne, key);
}

const selectOneToChange = prepare<ProviderKey, ProviderRow>((db, p, dialect) => {
  const query = db
    .selectFrom("provider_settings")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("name", "=", p("name"));
  return dialect === "postgres" ? query.forUpdate() : query;
});
export function lockProvider(tx: Tx, key: ProviderKey): Promise<ProviderRow | undefined> {
  return tx.first(selectOneToChange, key);
}

const selectOfOrg = prepare<{ orgId: string }, ProviderRow>((db, p) =>
  db.selectFrom("provider_settings").selectAll().where("org_id", "=", p("orgId")).orderBy("name"),
);
export function listProviders(reader: Reader, orgId: string): Promise<ProviderRow[]> {
  return reader.all(selectOfOrg, { orgId });
}

/** Address and sealed key are always written together: each is valid only with the other. */
const upsert = prepare<ProviderRow, unknown>((db, p) =>
  db
    .insertInto("provider_settings")
    .values({
      org_id: p("org_id"),
      name: p("name"),
      kind: p("kind"),
      base_url: p("base_url"),
      secret: p("secret"),
      models: p("models"),
      answered: p("answered"),
      created_by: p("created_by"),
      updated_at: p("updated_at"),
    })
    .onConflict((conflict) =>
      conflict.columns(["org_id", "name"]).doUpdateSet((eb) => ({
        kind: eb.ref("excluded.kind"),
        base_url: eb.ref("excluded.base_url"),
        secret: eb.ref("excluded.secret"),
        models: eb.ref("excluded.models"),
        answered: eb.ref("excluded.answered"),
        updated_at: eb.ref("excluded.updated_at"),
      })),
    ),
);
export function saveProvider(tx: Tx, row: ProviderRow): Promise<number> {
  return tx.run(upsert, row);
}

const deleteOne = prepare<ProviderKey, unknown>((db, p) =>
  db.deleteFrom("provider_settings").where("org_id", "=", p("orgId")).where("name", "=", p("name")),
);
export function deleteProvider(tx: Tx, key: ProviderKey): Promise<number> {
  return tx.run(deleteOne, key);
}

const updateAnswered = prepare<ProviderKey, unknown>((db, p) =>
  db
    .updateTable("provider_settings")
    .set({ answered: 1 })
    .where("org_id", "=", p("orgId"))
    .where("name", "=", p("name"))
    .where("answered", "=", 0),
);
/** Returns the number of changed rows: none when the provider had responded before. */
export function saveAnswered(tx: Tx, key: ProviderKey): Promise<number> {
  return tx.run(updateAnswered, key);
}
