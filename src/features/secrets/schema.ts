/** The table of secrets. It holds values only in sealed form. */
import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";
import type { SecretScope } from "./contract.ts";

export interface SecretRow {
  org_id: string;
  scope: SecretScope;
  /** Empty: the organisation. */
  owner_id: string;
  name: string;
  description: string | null;
  sealed: string;
  version: number;
  created_by: string;
  created_at: number;
  updated_at: number;
  last_used_at: number | null;
}

export interface SecretTables {
  secrets: SecretRow;
}

const tables = `
create table secrets (
  org_id ID not null, scope ID not null, owner_id ID not null, name ID not null, description text,
  sealed text not null, version integer not null, created_by ID not null, created_at bigint not null,
  updated_at bigint not null, last_used_at bigint, primary key (org_id, scope, owner_id, name)
)
`;

export const secretMigrations: readonly Migration[] = [
  { id: "secrets-0001-secrets", statements: (dialect) => ddl(dialect, tables) },
];
