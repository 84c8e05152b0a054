/** The table of repositories. */
import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";
import type { RepoProvider } from "./contract.ts";

export interface RepoRow {
  id: string;
  org_id: string;
  full_name: string;
  /** The name in lower case: names that differ only in case are the same. */
  name_key: string;
  provider: RepoProvider;
  url: string;
  /** The address in comparable form: two spellings of one address are the same. */
  url_key: string;
  description: string | null;
  default_branch: string | null;
  language: string | null;
  /** A JSON array. */
  topics: string;
  /** 0 or 1. */
  enabled: number;
  /** Sealed. */
  webhook_secret: string | null;
  /** Default persona of sessions on this repository. The id stays when the persona's slug changes. */
  persona_id: string | null;
  /** Slug of that persona, for lists; also names a deleted one. */
  persona_slug: string | null;
  setup_command: string | null;
  credential: string | null;
  /** A JSON array of the fields that a person set, which no sync overwrites. */
  set_here: string;
  /** Text that a search reads, in lower case. */
  search: string;
  /** Scope of the last sync that found it, so that only a sync of the same scope can report it missing. */
  sync_scope: string | null;
  synced_at: number | null;
  missing_at: number | null;
  created_by: string;
  created_at: number;
  updated_at: number;
  /** Time of removal; the row stays so that a sync does not bring the repository back. */
  archived_at: number | null;
}

export interface RepoTables {
  repos: RepoRow;
}

const tables = `
create table repos (
  id ID primary key, org_id ID not null, full_name text not null, name_key ID not null,
  provider text not null, url text not null, url_key ID not null, description text,
  default_branch text, language text, topics text not null, enabled integer not null,
  webhook_secret text, persona_slug text, setup_command text, credential text,
  set_here text not null, search text not null, sync_scope ID, synced_at bigint, missing_at bigint,
  created_by ID not null, created_at bigint not null, updated_at bigint not null, archived_at bigint
);
create unique index repos_name on repos (org_id, name_key) where archived_at is null;
create index repos_archived on repos (org_id, name_key) where archived_at is not null;
create index repos_url on repos (org_id, url_key) where archived_at is null
`;

/** Sessions on a folder that an admin had listed were allowed to use it. */
const pathRight = `
update sessions set may_use_path = 1
  where repo like '/%' and exists (
    select 1 from repos where repos.org_id = sessions.org_id and repos.url = sessions.repo
      and repos.archived_at is null
  )
`;

export const repoMigrations: readonly Migration[] = [
  { id: "repos-0001-repos", statements: (dialect) => ddl(dialect, tables) },
  { id: "repos-0002-path-right", statements: (dialect) => ddl(dialect, pathRight) },
  // The briefing feature fills this column, because it also knows the table of personas.
  {
    id: "repos-0027-persona-id",
    statements: (dialect) => ddl(dialect, "alter table repos add column persona_id ID"),
  },
];
