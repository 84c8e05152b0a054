/** Invitations: one-time links by which somebody joins the org. */
import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";

export interface InvitationRow {
  id: string;
  org_id: string;
  /** Of the token in the link, which is shown once. */
  hash: string;
  /** Null: whoever has the link. */
  email: string | null;
  role: "admin" | "member";
  created_by: string;
  created_at: number;
  expires_at: number;
  accepted_at: number | null;
  accepted_by: string | null;
  revoked_at: number | null;
}

export interface OrgTables {
  invitations: InvitationRow;
}

const tables = `
create table invitations (
  id ID primary key, org_id ID not null, hash ID not null unique, email text, role text not null,
  created_by ID not null, created_at bigint not null, expires_at bigint not null, accepted_at bigint,
  accepted_by ID, revoked_at bigint
);
create index invitations_listed on invitations (org_id, created_at, id);
`;

export const orgMigrations: readonly Migration[] = [
  { id: "orgs-0001-invitations", statements: (dialect) => ddl(dialect, tables) },
];
