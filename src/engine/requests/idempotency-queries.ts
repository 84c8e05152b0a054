/** The only SQL on idempotency keys. */
import { type Reader, statements, type Tx } from "#base/store/index.ts";
import { oldRows } from "../retention/retention-queries.ts";
import type { IdempotencyRow, KernelTables } from "../schema.ts";

const prepare = statements<KernelTables>();

const insertKey = prepare<IdempotencyRow, unknown>((db, p) =>
  db
    .insertInto("idempotency_keys")
    .values({
      principal: p("principal"),
      key: p("key"),
      fingerprint: p("fingerprint"),
      resource: p("resource"),
      created_at: p("created_at"),
    })
    .onConflict((conflict) => conflict.columns(["principal", "key"]).doNothing()),
);
/** True when the key was new. */
export async function keepIdempotencyKey(tx: Tx, row: IdempotencyRow): Promise<boolean> {
  return (await tx.run(insertKey, row)) > 0;
}
const selectKey = prepare<{ principal: string; key: string }, IdempotencyRow>((db, p) =>
  db
    .selectFrom("idempotency_keys")
    .selectAll()
    .where("principal", "=", p("principal"))
    .where("key", "=", p("key")),
);
export function findIdempotencyKey(
  reader: Reader,
  principal: string,
  key: string,
): Promise<IdempotencyRow | undefined> {
  return reader.first(selectKey, { principal, key });
}
const deleteKeysOf = prepare<{ principal: string }, unknown>((db, p) =>
  db.deleteFrom("idempotency_keys").where("principal", "=", p("principal")),
);
export function forgetKeysOf(tx: Tx, principal: string): Promise<number> {
  return tx.run(deleteKeysOf, { principal });
}
/** Keys of requests that are older than an instant. */
export const oldKeys = oldRows("idempotency_keys", "created_at < ?");
