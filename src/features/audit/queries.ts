/**
 * SQL on the audit trail; no other file has any. Rows are inserted, sealed, and cut off from the oldest;
 * nothing else ever changes them.
 */
import { builder, inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables } from "#engine/index.ts";
import type { ModelCapability } from "#protocol/models.ts";
import type { Seal } from "./chain/chain.ts";
import type {
  AuditCutRow,
  AuditHeadRow,
  AuditRestoreRow,
  AuditRow,
  AuditTables,
} from "./schema.ts";

const prepare = statements<AuditTables>();

const selectModels = statements<KernelTables>()<{ id: string }, { models: string }>((db, p) =>
  db.selectFrom("runners").select("models").where("id", "=", p("id")),
);
/** Lists the models that a runner offers. */
export async function listModels(
  reader: Reader,
  runnerId: string | null,
): Promise<ModelCapability[]> {
  const row = runnerId === null ? undefined : await reader.first(selectModels, { id: runnerId });
  return row ? (JSON.parse(row.models) as ModelCapability[]) : [];
}

const insertRow = inserter<AuditRow>("audit_events", [
  "id",
  "org_id",
  "at",
  "category",
  "action",
  "severity",
  "session_id",
  "user_id",
  "run_id",
  "metadata",
  "seq",
  "prev_hash",
  "hash",
]);
export function insertAuditRows(tx: Tx, rows: readonly AuditRow[]): Promise<number> {
  return tx.execute(insertRow(tx.dialect, rows));
}

const selectHead = prepare<Record<never, never>, AuditHeadRow>((db) =>
  db.selectFrom("audit_head").selectAll().where("id", "=", 1),
);
const lockHeadRow = prepare<Record<never, never>, AuditHeadRow>((db, _p, dialect) => {
  const query = db.selectFrom("audit_head").selectAll().where("id", "=", 1);
  return dialect === "postgres" ? query.forUpdate().skipLocked() : query;
});
/** Returns undefined while another server seals. */
export function lockHead(tx: Tx): Promise<AuditHeadRow | undefined> {
  return tx.first(lockHeadRow, {});
}
export function readHead(reader: Reader): Promise<AuditHeadRow | undefined> {
  return reader.first(selectHead, {});
}

type HeadChange = Omit<AuditHeadRow, "id">;
const updateHead = prepare<HeadChange, unknown>((db, p) =>
  db
    .updateTable("audit_head")
    .set({ seq: p("seq"), hash: p("hash"), mac: p("mac") })
    .where("id", "=", 1),
);
export function saveHead(tx: Tx, head: HeadChange): Promise<number> {
  return tx.run(updateHead, head);
}

const selectSealedHash = prepare<{ seq: number }, { hash: string | null }>((db, p) =>
  db.selectFrom("audit_events").select("hash").where("seq", "=", p("seq")),
);
/** Returns undefined when no row has that position. */
export async function readSealedHash(reader: Reader, seq: number): Promise<string | undefined> {
  return (await reader.first(selectSealedHash, { seq }))?.hash ?? undefined;
}

const insertRestoreRow = prepare<AuditRestoreRow, unknown>((db, p) =>
  db
    .insertInto("audit_restores")
    .values({ id: p("id"), at: p("at"), seq: p("seq"), hash: p("hash"), mac: p("mac") })
    .onConflict((conflict) => conflict.column("id").doNothing()),
);
export function insertRestore(tx: Tx, row: AuditRestoreRow): Promise<number> {
  return tx.run(insertRestoreRow, row);
}

const selectRestores = prepare<Record<never, never>, AuditRestoreRow>((db) =>
  db.selectFrom("audit_restores").selectAll().orderBy("at").orderBy("id"),
);
/** Oldest first. */
export function listRestores(reader: Reader): Promise<AuditRestoreRow[]> {
  return reader.all(selectRestores, {});
}

const selectUnsealed = prepare<{ limit: number }, AuditRow>((db, p) =>
  db
    .selectFrom("audit_events")
    .selectAll()
    .where("seq", "is", null)
    .orderBy("at")
    .orderBy("id")
    .limit(p("limit")),
);
export function listUnsealed(reader: Reader, limit: number): Promise<AuditRow[]> {
  return reader.all(selectUnsealed, { limit });
}

/** Applies all seals of a batch in one statement. */
export function applySeals(tx: Tx, seals: readonly Seal[]): Promise<number> {
  const parameters: unknown[] = [];
  const mark = (value: unknown, type: string) => {
    parameters.push(value);
    return tx.dialect === "postgres" ? `$${parameters.length}::${type}` : "?";
  };
  const tuples = seals.map(
    ({ id, seq, prev_hash, hash }) =>
      `(${mark(id, "text")}, ${mark(seq, "bigint")}, ${mark(prev_hash, "text")}, ${mark(hash, "text")})`,
  );
  return tx.execute({
    sql: `update audit_events set seq = v.column2, prev_hash = v.column3, hash = v.column4
      from (values ${tuples.join(", ")}) as v
      where audit_events.id = v.column1 and audit_events.seq is null`,
    parameters,
  });
}

const selectSealed = prepare<{ after: number; limit: number }, AuditRow>((db, p) =>
  db
    .selectFrom("audit_events")
    .selectAll()
    .where("seq", ">", p("after"))
    .orderBy("seq")
    .limit(p("limit")),
);
export function listSealed(reader: Reader, after: number, limit: number): Promise<AuditRow[]> {
  return reader.all(selectSealed, { after, limit });
}

const selectCut = prepare<Record<never, never>, AuditCutRow>((db) =>
  db.selectFrom("audit_cuts").selectAll().where("id", "=", 1),
);
/** Returns undefined when no row was ever removed. */
export function readCut(reader: Reader): Promise<AuditCutRow | undefined> {
  return reader.first(selectCut, {});
}

type CutChange = Omit<AuditCutRow, "id">;
const upsertCut = prepare<CutChange, unknown>((db, p) =>
  db
    .insertInto("audit_cuts")
    .values({
      id: 1,
      seq: p("seq"),
      hash: p("hash"),
      through_at: p("through_at"),
      at: p("at"),
      mac: p("mac"),
    })
    .onConflict((conflict) =>
      conflict
        .column("id")
        .doUpdateSet((eb) => ({
          seq: eb.ref("excluded.seq"),
          hash: eb.ref("excluded.hash"),
          through_at: eb.ref("excluded.through_at"),
          at: eb.ref("excluded.at"),
          mac: eb.ref("excluded.mac"),
        }))
        .whereRef("audit_cuts.seq", "<", "excluded.seq" as never),
    ),
);
/** Moves the cut forward. Returns 0 when it is already there, or further. */
export function saveCut(tx: Tx, cut: CutChange): Promise<number> {
  return tx.run(upsertCut, cut);
}

const deleteSealed = prepare<{ after: number; through: number }, unknown>((db, p) =>
  db.deleteFrom("audit_events").where("seq", ">", p("after")).where("seq", "<=", p("through")),
);
export function dropSealed(tx: Tx, after: number, through: number): Promise<number> {
  return tx.run(deleteSealed, { after, through });
}

const selectOld = statements<AuditTables & Pick<KernelTables, "orgs">>()<
  { before: number; limit: number },
  { id: string }
>((db, p) =>
  db
    .selectFrom("audit_events")
    .select("audit_events.id")
    // The index with the time begins with the organisation.
    .where("org_id", "in", (eb) => eb.selectFrom("orgs").select("orgs.id"))
    .where("at", "<", p("before"))
    .limit(p("limit")),
);
export async function countOld(reader: Reader, before: number, limit: number): Promise<number> {
  return (await reader.all(selectOld, { before, limit })).length;
}

const countUnsealedRows = prepare<Record<never, never>, { count: number }>((db) =>
  db
    .selectFrom("audit_events")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("seq", "is", null),
);
export async function countUnsealed(reader: Reader): Promise<number> {
  return Number((await reader.first(countUnsealedRows, {}))?.count ?? 0);
}

export interface AuditFilter {
  orgId: string;
  /** Restricts the list to events in this person's sessions. */
  userId?: string | undefined;
  sessionId?: string | undefined;
  actions?: readonly AuditRow["action"][] | undefined;
  category?: AuditRow["category"] | undefined;
  /** Inclusive. */
  from?: number | undefined;
  /** Exclusive. */
  to?: number | undefined;
  before?: { at: number; id: string } | undefined;
  limit: number;
}
/** Newest first. */
export function listAuditRows(reader: Reader, filter: AuditFilter): Promise<AuditRow[]> {
  const { userId, sessionId, actions, category, from, to, before } = filter;
  let query = builder<AuditTables>(reader.dialect)
    .selectFrom("audit_events")
    .selectAll()
    .where("org_id", "=", filter.orgId);
  if (userId !== undefined) query = query.where("user_id", "=", userId);
  if (sessionId !== undefined) query = query.where("session_id", "=", sessionId);
  if (actions !== undefined) query = query.where("action", "in", actions);
  if (category !== undefined) query = query.where("category", "=", category);
  if (from !== undefined) query = query.where("at", ">=", from);
  if (to !== undefined) query = query.where("at", "<", to);
  if (before)
    query = query.where((eb) =>
      eb.or([
        eb("at", "<", before.at),
        eb.and([eb("at", "=", before.at), eb("id", "<", before.id)]),
      ]),
    );
  return reader.query<AuditRow>(
    query.orderBy("at", "desc").orderBy("id", "desc").limit(filter.limit).compile(),
  );
}
