/** SQL that counts awake sessions against the ceilings of a person and of an organisation. */
import { builder, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables } from "#engine/schema.ts";

const prepare = statements<KernelTables>();

/** First of the advisory lock's two numbers; the other is made from the organisation's id. */
const CEILING_LOCK = 7_401;

/**
 * Lets one command at a time count in an organisation, until the command ends. Taken after all
 * locks of sessions; only rows that nobody else has locked are locked after it. SQLite has one
 * writer.
 */
export async function lockCeilings(tx: Tx, orgId: string): Promise<void> {
  if (tx.dialect === "sqlite") return;
  await tx.query({
    sql: "select pg_advisory_xact_lock($1, hashtext($2))",
    parameters: [CEILING_LOCK, orgId],
  });
}

const selectAwakeOf = prepare<{ orgId: string; ownerId: string; limit: number }, { id: string }>(
  (db, p) =>
    db
      .selectFrom("sessions")
      .select("id")
      .where("org_id", "=", p("orgId"))
      .where("owner_id", "=", p("ownerId"))
      .where("lifecycle", "=", "active")
      .where("kind", "in", ["task", "review"])
      // Children are bounded by the limits of the session that leads them.
      .where("parent_session_id", "is", null)
      .limit(p("limit")),
);
/** A person's own awake sessions, up to the limit. */
export async function listAwakeOf(
  reader: Reader,
  wanted: { orgId: string; ownerId: string; limit: number },
): Promise<string[]> {
  return (await reader.all(selectAwakeOf, wanted)).map(({ id }) => id);
}

const selectAwakeInOrg = prepare<{ orgId: string; limit: number }, { id: string }>((db, p) =>
  db
    .selectFrom("sessions")
    .select("id")
    .where("org_id", "=", p("orgId"))
    .where("lifecycle", "=", "active")
    .limit(p("limit")),
);
export async function listAwakeInOrg(
  reader: Reader,
  wanted: { orgId: string; limit: number },
): Promise<string[]> {
  return (await reader.all(selectAwakeInOrg, wanted)).map(({ id }) => id);
}

/**
 * Locks a person's sessions that are idle and that nobody waits for, least recently used first.
 * Sessions that somebody else has locked are in use and left out.
 */
export async function lockIdle(
  tx: Tx,
  { orgId, ownerId, limit }: { orgId: string; ownerId: string; limit: number },
  { withChildren }: { withChildren: boolean },
): Promise<string[]> {
  let query = builder<KernelTables>(tx.dialect)
    .selectFrom("sessions")
    .select("id")
    .where("org_id", "=", orgId)
    .where("owner_id", "=", ownerId)
    .where("lifecycle", "=", "active")
    .where("run_state", "is", null)
    .where("waiting", "=", 0)
    .where("awaiting", "=", 0)
    // An agent with a role of its own is waited for by the sessions it was given the role for.
    .where("role", "is", null)
    .where("kind", "in", ["task", "review"])
    .orderBy("updated_at")
    .orderBy("id")
    .limit(limit);
  if (!withChildren) query = query.where("parent_session_id", "is", null);
  if (tx.dialect === "postgres") query = query.forUpdate().skipLocked();
  return (await tx.query<{ id: string }>(query.compile())).map(({ id }) => id);
}
