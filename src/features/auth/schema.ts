/** Tables that sign-in adds to the kernel's tables of people: passwords, linked accounts, former members. */
import type { Migration } from "#base/store/index.ts";
import { type CredentialRow, ddl, type KernelTables, type UserRow } from "#engine/index.ts";

/** A user, and whether they are still a member. Their rows stay when they leave. */
export interface PersonRow extends UserRow {
  removed_at: number | null;
}

/** A credential; a browser's is bound to a page (see `page-binding.ts`). */
export interface HeldCredentialRow extends CredentialRow {
  page_hash: string | null;
}

export interface PasswordRow {
  user_id: string;
  org_id: string;
  /** Hash with its salt and costs; see `passwords.ts`. */
  hash: string;
  updated_at: number;
}

/** An account at another service by which a person signs in. */
export interface LinkedAccountRow {
  id: string;
  org_id: string;
  user_id: string;
  provider: string;
  /** Authority behind the identity; a provider set up anew elsewhere knows other people. */
  issuer: string;
  /** Identifier that the service never gives to another account, unlike names and addresses. */
  subject: string;
  /** Name by which its owner recognises the account. */
  label: string;
  created_at: number;
  last_used_at: number | null;
}

/** A sign-in whose browser is at a provider. The row holds hashes of its secrets only. */
export interface SignInFlowRow {
  state_hash: string;
  /** Hash of the secret in the browser that began it. */
  browser_hash: string;
  provider: string;
  issuer: string;
  purpose: "sign_in" | "join" | "link";
  /** Hash of the invitation to join with. */
  invitation_hash: string | null;
  /** Person whose account is to be linked, and the credential that they asked with. */
  user_id: string | null;
  credential_id: string | null;
  /** Hash of the browser's cookie, which the sign-in replaces. */
  replaces_hash: string | null;
  /** Hash of the page that began it; the session that it opens is bound to that page. */
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

/** Older sessions are bound to no page, so browsers have to sign in again. */
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
