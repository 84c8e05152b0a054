/** Invitations: one-time links for joining the organisation. Purges: people whose data is to be removed. */
import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";

export interface InvitationRow {
  id: string;
  org_id: string;
  /** Hash of the token in the link, which is shown once. */
  hash: string;
  /** Null: whoever has the link. */
  email: string | null;
  /** Old account that it opens; null: a new one. */
  user_id: string | null;
  role: "admin" | "member";
  created_by: string;
  created_at: number;
  expires_at: number;
  accepted_at: number | null;
  accepted_by: string | null;
  revoked_at: number | null;
}

/** A purge of a former member's data, pending or done. */
export interface PurgeRow {
  user_id: string;
  org_id: string;
  asked_by: string;
  asked_at: number;
  done_at: number | null;
}

export interface OrgTables {
  invitations: InvitationRow;
  member_purges: PurgeRow;
}

const tables = `
create table invitations (
  id ID primary key, org_id ID not null, hash ID not null unique, email text, role text not null,
  created_by ID not null, created_at bigint not null, expires_at bigint not null, accepted_at bigint,
  accepted_by ID, revoked_at bigint
);
create index invitations_listed on invitations (org_id, created_at, id);
`;

const purges = `
create table member_purges (
  user_id ID primary key, org_id ID not null, asked_by ID not null, asked_at bigint not null,
  done_at bigint
);
create index member_purges_open on member_purges (asked_at) where done_at is null;
`;

export const orgMigrations: readonly Migration[] = [
  { id: "orgs-0001-invitations", statements: (dialect) => ddl(dialect, tables) },
  { id: "orgs-0002-purges", statements: (dialect) => ddl(dialect, purges) },
  {
    id: "orgs-0003-invited-back",
    statements: (dialect) => ddl(dialect, "alter table invitations add column user_id ID;"),
  },
];
