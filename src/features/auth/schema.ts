/** What signing in adds to the kernel's tables of people: passwords, linked accounts, who has left. */
import type { Migration } from "#base/store/index.ts";
import { type CredentialRow, ddl, type KernelTables, type UserRow } from "#engine/index.ts";

/** A user, and whether they still belong to the org. Their rows stay when they leave. */
export interface PersonRow extends UserRow {
  removed_at: number | null;
}

/** A credential; browsers' ones are bound to a page (see `page-binding.ts`). */
export interface HeldCredentialRow extends CredentialRow {
  page_hash: string | null;
}

export interface PasswordRow {
  user_id: string;
  org_id: string;
  /** With its salt and costs; see `passwords.ts`. */
  hash: string;
  updated_at: number;
}

/** An account at somebody else's service by which a person signs in. */
export interface LinkedAccountRow {
  id: string;
  org_id: string;
  user_id: string;
  provider: string;
  /** Whose word it is; a provider that is set up anew elsewhere knows other people. */
  issuer: string;
  /** Never given to anybody else there, unlike names and addresses. */
  subject: string;
  /** For its owner to know it by. */
  label: string;
  created_at: number;
  last_used_at: number | null;
}

/** A sign-in that has gone to a provider and is not back yet. Its secrets are hashes only. */
export interface SignInFlowRow {
  state_hash: string;
  /** Of what the browser that began it holds. */
  browser_hash: string;
  provider: string;
  issuer: string;
  purpose: "sign_in" | "join" | "link";
  /** To join with. */
  invitation_hash: string | null;
  /** Whose account is to be linked, and by which credential they asked. */
  user_id: string | null;
  credential_id: string | null;
  /** Of the browser's cookie, which is of no use afterwards. */
  replaces_hash: string | null;
  /** Of the page that began it; the session that it opens is bound to that page. */
  page_hash: string | null;
  next: string;
  created_at: number;
  expires_at: number;
}

export interface AuthTables extends Omit<KernelTables, "users" | "credentials"> {
  users: PersonRow;
  credentials: HeldCredentialRow;
  passwords: PasswordRow;
  linked_accounts: LinkedAccountRow;
  sign_in_flows: SignInFlowRow;
}

const tables = `
alter table users add column removed_at bigint;
create table passwords (
  user_id ID primary key, org_id ID not null, hash text not null, updated_at bigint not null
);
create index credentials_made_by on credentials (created_by);
`;

const accounts = `
create table linked_accounts (
  id ID primary key, org_id ID not null, user_id ID not null, provider ID not null,
  issuer ID not null, subject ID not null, label text not null, created_at bigint not null,
  last_used_at bigint
);
create unique index linked_accounts_whose on linked_accounts (provider, issuer, subject);
create index linked_accounts_of on linked_accounts (user_id);
create table sign_in_flows (
  state_hash ID primary key, browser_hash ID not null, provider ID not null, issuer ID not null,
  purpose text not null, invitation_hash ID, user_id ID, credential_id ID, replaces_hash ID,
  next text not null, created_at bigint not null, expires_at bigint not null
);
create index sign_in_flows_over on sign_in_flows (expires_at);
`;

/** Sessions from before are bound to no page, so browsers have to sign in again. */
const pages = `
alter table credentials add column page_hash ID;
alter table sign_in_flows add column page_hash ID;
update credentials set revoked_at = created_at where kind = 'cookie' and revoked_at is null;
`;

export const authMigrations: readonly Migration[] = [
  { id: "auth-0001-passwords", statements: (dialect) => ddl(dialect, tables) },
  { id: "auth-0002-linked-accounts", statements: (dialect) => ddl(dialect, accounts) },
  { id: "auth-0003-page-binding", statements: (dialect) => ddl(dialect, pages) },
];
