/** Table of rules. */

import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";
import type { RuleEffect } from "./contract.ts";

export interface PolicyRuleRow {
  id: string;
  org_id: string;
  level: "user" | "org";
  /** Owner of the rule; null for a rule of the org. */
  user_id: string | null;
  /** Session that the rule holds for; null: all sessions. */
  session_id: string | null;
  /** Key of the children's calls that the rule covers, `*` for all; null: none. */
  child_key: string | null;
  /** 1: a yes to a command in a sandbox, which does not cover the command without one. */
  sandboxed_only: number;
  tool: string;
  pattern: string;
  match: "exact" | "glob";
  effect: RuleEffect;
  note: string | null;
  created_by: string;
  created_at: number;
}

export interface PolicyTables {
  policy_rules: PolicyRuleRow;
}

const tables = `
create table policy_rules (
  id ID primary key, org_id ID not null, level text not null, user_id ID, session_id ID,
  tool ID not null, pattern text not null, match text not null, effect text not null, note text,
  created_by ID not null, created_at bigint not null
);
create index policy_rules_listed on policy_rules (org_id, user_id, created_at, id);
create index policy_rules_session on policy_rules (session_id) where session_id is not null;
`;

/**
 * Earlier decisions did not record the sandbox, so they hold only in one:
 * at worst a person is asked again.
 */
const sandboxed = `
alter table policy_rules add column sandboxed_only integer not null default 0;
update policy_rules set sandboxed_only = 1
  where tool = 'bash' and effect = 'allow' and match = 'exact'
    and note = 'Decided when an agent asked.';
`;

export const policyMigrations: readonly Migration[] = [
  { id: "policy-0001-rules", statements: (dialect) => ddl(dialect, tables) },
  {
    id: "policy-0023-children",
    statements: (dialect) => ddl(dialect, "alter table policy_rules add column child_key ID"),
  },
  { id: "policy-0029-sandboxed", statements: (dialect) => ddl(dialect, sandboxed) },
];
