/** The table of model providers' settings. */
import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";
import type { ProviderKind } from "./contract.ts";

export interface ProviderRow {
  org_id: string;
  name: string;
  kind: ProviderKind;
  base_url: string;
  /** The sealed key; null when the provider needs none. */
  secret: string | null;
  /** A JSON array; null: the provider's own list. */
  models: string | null;
  /** 1: the provider responded when these settings were saved. 0: it did not, so the key is untried. */
  answered: number;
  created_by: string;
  updated_at: number;
}

export interface ProviderTables {
  provider_settings: ProviderRow;
}

const tables = `
create table provider_settings (
  org_id ID not null, name ID not null, kind text not null, base_url text not null, secret text,
  models text, created_by ID not null, updated_at bigint not null, primary key (org_id, name)
)
`;

/** Providers of older databases were not checked; they have been in use since. */
const answered = "alter table provider_settings add column answered integer not null default 1";

export const providerMigrations: readonly Migration[] = [
  { id: "providers-0001-settings", statements: (dialect) => ddl(dialect, tables) },
  { id: "providers-0025-answered", statements: (dialect) => ddl(dialect, answered) },
];
