/** The only SQL on policy rules. */
import { inserter, type Reader, statements, type Tx } from "#base/store/index.ts";
import type { PolicyRuleRow, PolicyTables } from "./schema.ts";

const prepare = statements<PolicyTables>();

const insertRow = inserter<PolicyRuleRow>("policy_rules", [
  "id",
  "org_id",
  "level",
  "user_id",
  "session_id",
  "child_key",
  "sandboxed_only",
  "tool",
  "pattern",
  "match",
  "effect",
  "note",
  "created_by",
  "created_at",
]);
export function insertRule(tx: Tx, row: PolicyRuleRow): Promise<number> {
  return tx.execute(insertRow(tx.dialect, [row]));
}

interface CallKey {
  orgId: string;
  /** Empty: the session has no owner. */
  userId: string;
  sessionId: string;
  /** Empty: the session has no parent. */
  parentId: string;
  tool: string;
}
const selectForCall = prepare<CallKey, PolicyRuleRow>((db, p) =>
  db
    .selectFrom("policy_rules")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where((eb) => eb.or([eb("user_id", "is", null), eb("user_id", "=", p("userId"))]))
    .where((eb) =>
      eb.or([
        eb("session_id", "is", null),
        eb("session_id", "=", p("sessionId")),
        eb.and([eb("session_id", "=", p("parentId")), eb("child_key", "is not", null)]),
      ]),
    )
    .where((eb) => eb.or([eb("tool", "=", "*"), eb("tool", "=", p("tool"))])),
);
/**
 * Lists the rules that may match a call:
 * the org's, the owner's, the session's, and the parent's for its children.
 */
export function listRulesForCall(reader: Reader, key: CallKey): Promise<PolicyRuleRow[]> {
  return reader.all(selectForCall, key);
}

const selectOfUser = prepare<{ orgId: string; userId: string }, PolicyRuleRow>((db, p) =>
  db
    .selectFrom("policy_rules")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .where((eb) => eb.or([eb("user_id", "is", null), eb("user_id", "=", p("userId"))]))
    .orderBy("created_at", "desc")
    .orderBy("id", "desc"),
);
/** Lists the org's rules and the person's own, newest first. */
export function listRules(reader: Reader, orgId: string, userId: string): Promise<PolicyRuleRow[]> {
  return reader.all(selectOfUser, { orgId, userId });
}

const countOfUser = prepare<{ orgId: string; userId: string }, { count: number }>((db, p) =>
  db
    .selectFrom("policy_rules")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId")),
);
const countOfOrg = prepare<{ orgId: string }, { count: number }>((db, p) =>
  db
    .selectFrom("policy_rules")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("org_id", "=", p("orgId"))
    .where("user_id", "is", null),
);
export async function countRules(
  reader: Reader,
  orgId: string,
  userId: string | null,
): Promise<number> {
  const found =
    userId === null
      ? await reader.first(countOfOrg, { orgId })
      : await reader.first(countOfUser, { orgId, userId });
  return Number(found?.count ?? 0);
}

const selectRule = prepare<{ id: string }, PolicyRuleRow>((db, p) =>
  db.selectFrom("policy_rules").selectAll().where("id", "=", p("id")),
);
export function findRule(reader: Reader, id: string): Promise<PolicyRuleRow | undefined> {
  return reader.first(selectRule, { id });
}

const deleteById = prepare<{ id: string }, unknown>((db, p) =>
  db.deleteFrom("policy_rules").where("id", "=", p("id")),
);
export function deleteRule(tx: Tx, id: string): Promise<number> {
  return tx.run(deleteById, { id });
}

const deleteOfPerson = prepare<{ orgId: string; userId: string }, unknown>((db, p) =>
  db.deleteFrom("policy_rules").where("org_id", "=", p("orgId")).where("user_id", "=", p("userId")),
);
export function deletePersonalRules(
  tx: Tx,
  person: { orgId: string; userId: string },
): Promise<number> {
  return tx.run(deleteOfPerson, person);
}

const deleteAllowed = prepare<{ orgId: string; userId: string }, unknown>((db, p) =>
  db
    .deleteFrom("policy_rules")
    .where("org_id", "=", p("orgId"))
    .where("user_id", "=", p("userId"))
    .where("effect", "=", "allow"),
);
/** Removes a person's own allow rules. */
export function dropAllowRules(tx: Tx, person: { orgId: string; userId: string }): Promise<number> {
  return tx.run(deleteAllowed, person);
}

const deleteOfSession = prepare<{ sessionId: string; createdBy: string }, unknown>((db, p) =>
  db
    .deleteFrom("policy_rules")
    .where("session_id", "=", p("sessionId"))
    .where("created_by", "=", p("createdBy")),
);
export function deleteSessionRules(tx: Tx, sessionId: string, createdBy: string): Promise<number> {
  return tx.run(deleteOfSession, { sessionId, createdBy });
}
