/** What signing in adds to the kernel's tables of people: passwords, and who has left. */
import type { Migration } from "#base/store/index.ts";
import { ddl, type KernelTables, type UserRow } from "#engine/index.ts";

/** A user, and whether they still belong to the org. Their rows stay when they leave. */
export interface PersonRow extends UserRow {
  removed_at: number | null;
}

export interface PasswordRow {
  user_id: string;
  org_id: string;
  /** With its salt and costs; see `passwords.ts`. */
  hash: string;
  updated_at: number;
}

export interface AuthTables extends Omit<KernelTables, "users"> {
  users: PersonRow;
  passwords: PasswordRow;
}

const tables = `
alter table users add column removed_at bigint;
create table passwords (
  user_id ID primary key, org_id ID not null, hash text not null, updated_at bigint not null
);
create index credentials_made_by on credentials (created_by);
`;

export const authMigrations: readonly Migration[] = [
  { id: "auth-0001-passwords", statements: (dialect) => ddl(dialect, tables) },
];
