/** SQL on usage. No other file has any. */
import { sql } from "kysely";
import { builder, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables } from "#engine/index.ts";
import type { UsageGroup } from "./contract.ts";
import {
  type Amounts,
  SUMMED,
  type UsageDayRow,
  type UsageRow,
  type UsageTables,
} from "./schema.ts";

const prepare = statements<UsageTables>();

const amountSlots = (p: (name: keyof Amounts) => number) =>
  Object.fromEntries(SUMMED.map((name) => [name, p(name)])) as unknown as Amounts;

const upsertRow = prepare<UsageRow, unknown>((db, p) =>
  db
    .insertInto("usage_rows")
    .values({
      session_id: p("session_id"),
      model: p("model"),
      day: p("day"),
      org_id: p("org_id"),
      user_id: p("user_id"),
      root_session_id: p("root_session_id"),
      persona: p("persona"),
      ...amountSlots(p),
    })
    .onConflict((conflict) =>
      conflict
        .columns(["session_id", "model", "day"])
        .doUpdateSet((eb) =>
          Object.fromEntries(
            SUMMED.map((name) => [name, eb(`usage_rows.${name}`, "+", eb.ref(`excluded.${name}`))]),
          ),
        ),
    ),
);
/** Adds to an existing row. */
export function addUsage(tx: Tx, row: UsageRow): Promise<number> {
  return tx.run(upsertRow, row);
}

export interface UsageFilter {
  orgId: string;
  userId?: string | undefined;
  sessionId?: string | undefined;
  /** First and last day, both included. */
  from?: string | undefined;
  to?: string | undefined;
}

const KEYS = {
  session: "session_id",
  tree: "root_session_id",
  user: "user_id",
  model: "model",
  persona: "persona",
  day: "day",
} as const satisfies Record<UsageGroup, keyof UsageRow>;

/** Newest first where keys sort by time, else by name. */
const IS_NEWEST_FIRST: ReadonlySet<UsageGroup> = new Set(["session", "tree", "day"]);

const DAY_KEYS = ["org_id", "day", "user_id", "model", "persona", "root_session_id"] as const;

/** Usage of sessions, and the daily sums of removed ones, which have no session id any more. */
function filtered(reader: Reader, { orgId, userId, sessionId, from, to }: UsageFilter) {
  const db = builder<UsageTables>(reader.dialect);
  const all = db
    .selectFrom("usage_rows")
    .select(["session_id", ...DAY_KEYS, ...SUMMED])
    .unionAll(
      db
        .selectFrom("usage_days")
        .select(sql<string>`''`.as("session_id"))
        .select([...DAY_KEYS, ...SUMMED]),
    );
  let query = db.selectFrom(all.as("usage")).where("org_id", "=", orgId);
  if (userId !== undefined) query = query.where("user_id", "=", userId);
  if (sessionId !== undefined) query = query.where("session_id", "=", sessionId);
  if (from !== undefined) query = query.where("day", ">=", from);
  if (to !== undefined) query = query.where("day", "<=", to);
  return query;
}

const sums = SUMMED.map((name) =>
  sql<number>`cast(coalesce(sum(${sql.ref(name)}), 0) as bigint)`.as(name),
);

export type GroupRow = Amounts & { key: string };

export function listUsage(
  reader: Reader,
  filter: UsageFilter,
  group: UsageGroup,
  after: string | undefined,
  limit: number,
): Promise<GroupRow[]> {
  const key = KEYS[group];
  const isDescending = IS_NEWEST_FIRST.has(group);
  let query = filtered(reader, filter);
  if (after !== undefined) query = query.where(key, isDescending ? "<" : ">", after);
  return reader.query<GroupRow>(
    query
      .select([sql<string>`${sql.ref(key)}`.as("key"), ...sums])
      .groupBy(key)
      .orderBy(key, isDescending ? "desc" : "asc")
      .limit(limit)
      .compile(),
  );
}

export async function sumUsage(reader: Reader, filter: UsageFilter): Promise<Amounts> {
  const [row] = await reader.query<Amounts>(filtered(reader, filter).select(sums).compile());
  return row as Amounts;
}

/** Titles of this person's own sessions: other people's titles are private. */
export async function listTitles(
  reader: Reader,
  ids: readonly string[],
  ownerId: string,
): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await reader.query<{ id: string; title: string | null }>(
    builder<KernelTables>(reader.dialect)
      .selectFrom("sessions")
      .select(["id", "title"])
      .where("id", "in", ids)
      .where("owner_id", "=", ownerId)
      .compile(),
  );
  return new Map(rows.map(({ id, title }) => [id, title]));
}

export async function listUserNames(
  reader: Reader,
  orgId: string,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await reader.query<{ id: string; name: string }>(
    builder<KernelTables>(reader.dialect)
      .selectFrom("users")
      .select(["id", "name"])
      .where("id", "in", ids)
      .where("org_id", "=", orgId)
      .compile(),
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

const clearPersonas = statements<UsageTables>()<{ orgId: string; userId: string }, unknown>(
  (db, p) =>
    db
      .updateTable("usage_rows")
      .set({ persona: "" })
      .where("org_id", "=", p("orgId"))
      .where("user_id", "=", p("userId")),
);
const selectNamedDays = prepare<{ orgId: string; userId: string }, UsageDayRow>((db, p) =>
  db
    .selectFrom("usage_days")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId"))
    .where("persona", "!=", ""),
);
/** Removes the names of a person's own personas; the amounts stay. */
export async function forgetPersonasOf(
  tx: Tx,
  person: { orgId: string; userId: string },
): Promise<void> {
  await tx.run(clearPersonas, person);
  for (const row of await tx.all(selectNamedDays, person)) {
    await tx.run(deleteDay, row);
    await tx.run(upsertDay, { ...row, persona: "" });
  }
}

// Rows of removed sessions

const upsertDay = prepare<UsageDayRow, unknown>((db, p) =>
  db
    .insertInto("usage_days")
    .values({
      org_id: p("org_id"),
      day: p("day"),
      user_id: p("user_id"),
      model: p("model"),
      persona: p("persona"),
      root_session_id: p("root_session_id"),
      ...amountSlots(p),
    })
    .onConflict((conflict) =>
      conflict
        .columns([...DAY_KEYS])
        .doUpdateSet((eb) =>
          Object.fromEntries(
            SUMMED.map((name) => [name, eb(`usage_days.${name}`, "+", eb.ref(`excluded.${name}`))]),
          ),
        ),
    ),
);
const deleteDay = prepare<UsageDayRow, unknown>((db, p) =>
  db
    .deleteFrom("usage_days")
    .where("org_id", "=", p("org_id"))
    .where("day", "=", p("day"))
    .where("user_id", "=", p("user_id"))
    .where("model", "=", p("model"))
    .where("persona", "=", p("persona"))
    .where("root_session_id", "=", p("root_session_id")),
);
const deleteRow = prepare<Pick<UsageRow, "session_id" | "model" | "day">, unknown>((db, p) =>
  db
    .deleteFrom("usage_rows")
    .where("session_id", "=", p("session_id"))
    .where("model", "=", p("model"))
    .where("day", "=", p("day")),
);

type GoneTables = UsageTables & KernelTables;

const goneSession = sql<boolean>`not exists (select 1 from sessions as own where own.id = usage_rows.session_id)`;

const selectGone = statements<GoneTables>()<
  { before: string; limit: number },
  { session_id: string }
>((db, p) =>
  db
    .selectFrom("usage_rows")
    .select("session_id")
    .distinct()
    // The index with the day begins with the organisation.
    .where("org_id", "in", (eb) => eb.selectFrom("orgs").select("orgs.id"))
    .where("day", "<", p("before"))
    .where(goneSession)
    .limit(p("limit")),
);
/**
 * Finds removed sessions with rows before a day. Reads all rows before that day, so use `readAside`.
 */
export async function findGoneSessions(
  reader: Reader,
  before: string,
  limit: number,
): Promise<string[]> {
  const rows = await reader.all(selectGone, { before, limit });
  return rows.map(({ session_id }) => session_id);
}

const countGone = statements<GoneTables>()<{ before: string; limit: number }, { count: number }>(
  (db, p) =>
    db
      .selectFrom(
        db
          .selectFrom("usage_rows")
          .select("day")
          .where("org_id", "in", (eb) => eb.selectFrom("orgs").select("orgs.id"))
          .where("day", "<", p("before"))
          .where(goneSession)
          .limit(p("limit"))
          .as("gone"),
      )
      .select((eb) => eb.fn.countAll<number>().as("count")),
);
/** Counts rows of removed sessions before a day. */
export async function countOldRows(reader: Reader, before: string, limit: number): Promise<number> {
  return Number((await reader.first(countGone, { before, limit }))?.count ?? 0);
}

type OldRow = UsageRow & { root_id: string | null };
/** Locks rows of these sessions before a day, so that another server aggregates others. */
export function lockOldRows(
  tx: Tx,
  sessionIds: readonly string[],
  before: string,
  limit: number,
): Promise<OldRow[]> {
  const query = builder<GoneTables>(tx.dialect)
    .selectFrom("usage_rows")
    .leftJoin("sessions as root", "root.id", "usage_rows.root_session_id")
    .selectAll("usage_rows")
    .select("root.id as root_id")
    .where("usage_rows.session_id", "in", sessionIds)
    .where("usage_rows.day", "<", before)
    .where(goneSession)
    .limit(limit);
  const locked = tx.dialect === "postgres" ? query.forUpdate("usage_rows").skipLocked() : query;
  return tx.query<OldRow>(locked.compile());
}

/** Adds rows to their daily sums and deletes them. */
export async function addToDays(tx: Tx, rows: readonly OldRow[]): Promise<void> {
  for (const { root_id, session_id, ...row } of rows) {
    await tx.run(upsertDay, { ...row, root_session_id: root_id ?? "" });
    await tx.run(deleteRow, { session_id, model: row.model, day: row.day });
  }
}
