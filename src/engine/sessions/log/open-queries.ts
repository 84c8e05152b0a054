/** The only SQL on grants to read somebody else's session. */
import { inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables, SessionOpenRow } from "#engine/schema.ts";

const prepare = statements<KernelTables>();

const insertRow = inserter<SessionOpenRow>("session_opens", [
  "id",
  "org_id",
  "session_id",
  "user_id",
  "reason",
  "created_at",
  "expires_at",
]);
export function insertOpen(tx: Tx, row: SessionOpenRow): Promise<number> {
  return tx.execute(insertRow(tx.dialect, [row]));
}

const selectLongest = prepare<
  { sessionId: string; userId: string; now: number },
  { expires_at: number }
>((db, p) =>
  db
    .selectFrom("session_opens")
    .select("expires_at")
    .where("session_id", "=", p("sessionId"))
    .where("user_id", "=", p("userId"))
    .where("expires_at", ">", p("now"))
    .orderBy("expires_at", "desc")
    .limit(1),
);
/** End of this person's access to this session; undefined when it is not open to them. */
export async function findOpenUntil(
  reader: Reader,
  key: { sessionId: string; userId: string; now: number },
): Promise<number | undefined> {
  return (await reader.first(selectLongest, key))?.expires_at;
}

const selectOfUser = prepare<
  { userId: string; now: number },
  { session_id: string; expires_at: number }
>((db, p) =>
  db
    .selectFrom("session_opens")
    .select(["session_id", "expires_at"])
    .where("user_id", "=", p("userId"))
    .where("expires_at", ">", p("now"))
    .orderBy("expires_at"),
);
/** Sessions that are open to this person now. */
export async function listOpenTo(
  reader: Reader,
  userId: string,
  now: number,
): Promise<Map<string, number>> {
  const rows = await reader.all(selectOfUser, { userId, now });
  return new Map(rows.map((row) => [row.session_id, row.expires_at]));
}

const deleteOfUser = prepare<{ userId: string }, unknown>((db, p) =>
  db.deleteFrom("session_opens").where("user_id", "=", p("userId")),
);
export function deleteOpensOf(tx: Tx, userId: string): Promise<number> {
  return tx.run(deleteOfUser, { userId });
}
