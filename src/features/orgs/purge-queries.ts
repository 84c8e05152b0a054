/** SQL on purges of people. No other file has any. */
import { inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { OrgTables, PurgeRow } from "./schema.ts";

const prepare = statements<OrgTables>();

const insertRow = inserter<PurgeRow>("member_purges", [
  "user_id",
  "org_id",
  "asked_by",
  "asked_at",
  "done_at",
]);
export const insertPurge = (tx: Tx, row: PurgeRow) => tx.execute(insertRow(tx.dialect, [row]));

const selectOne = prepare<{ userId: string }, PurgeRow>((db, p) =>
  db.selectFrom("member_purges").selectAll().where("user_id", "=", p("userId")),
);
export const findPurge = (reader: Reader, userId: string) => reader.first(selectOne, { userId });

const selectOfOrg = prepare<{ orgId: string }, PurgeRow>((db, p) =>
  db.selectFrom("member_purges").selectAll().where("org_id", "=", p("orgId")),
);
export const listPurges = (reader: Reader, orgId: string) => reader.all(selectOfOrg, { orgId });

const selectOpen = prepare<{ limit: number }, PurgeRow>((db, p) =>
  db
    .selectFrom("member_purges")
    .selectAll()
    .where("done_at", "is", null)
    .orderBy("asked_at")
    .limit(p("limit")),
);
/** Lists unfinished purges, oldest first. */
export const listOpenPurges = (reader: Reader, limit: number) => reader.all(selectOpen, { limit });

const finish = prepare<{ userId: string; now: number }, unknown>((db, p) =>
  db
    .updateTable("member_purges")
    .set({ done_at: p("now") })
    .where("user_id", "=", p("userId"))
    .where("done_at", "is", null),
);
/** Returns true for exactly one of several servers. */
export async function finishPurge(tx: Tx, userId: string): Promise<boolean> {
  return (await tx.run(finish, { userId, now: tx.now })) > 0;
}
