/** The only SQL on usage. */
import { sql } from "kysely";
import { builder, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables } from "#engine/index.ts";
import type { UsageGroup } from "./contract.ts";
import { type Amounts, SUMMED, type UsageRow, type UsageTables } from "./schema.ts";

const prepare = statements<UsageTables>();

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
      ...(Object.fromEntries(SUMMED.map((name) => [name, p(name)])) as unknown as Amounts),
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
/** Adds to what is there. */
export function addUsage(tx: Tx, row: UsageRow): Promise<number> {
  return tx.run(upsertRow, row);
}

export interface UsageFilter {
  orgId: string;
  userId?: string | undefined;
  sessionId?: string | undefined;
  /** Days, both included. */
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

function filtered(reader: Reader, { orgId, userId, sessionId, from, to }: UsageFilter) {
  let query = builder<UsageTables>(reader.dialect)
    .selectFrom("usage_rows")
    .where("org_id", "=", orgId);
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

/** Titles of this person's own sessions: what others call theirs is not for all to read. */
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
/** What was spent stays known; the names of a person's own personas do not. */
export function forgetPersonasOf(
  tx: Tx,
  person: { orgId: string; userId: string },
): Promise<number> {
  return tx.run(clearPersonas, person);
}
