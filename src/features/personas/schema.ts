/**
 * Tables of personas. A version is a manifest of settings and hashes; the texts behind the hashes are
 * stored once for each persona, so that a small change costs little.
 */
import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";
import type { Visibility } from "./contract.ts";

export interface PersonaRow {
  id: string;
  org_id: string;
  slug: string;
  name: string;
  description: string;
  icon: string | null;
  visibility: Visibility;
  model: string | null;
  runtime: string | null;
  /** Null: the session decides. */
  enable_memory: number | null;
  /** The present version: its number and its id. */
  version: number;
  version_id: string;
  /** Name, slug and description in lower case: databases differ in how they convert them. */
  search_text: string;
  created_by: string;
  created_at: number;
  updated_at: number;
  archived_at: number | null;
}

export interface PersonaVersionRow {
  id: string;
  org_id: string;
  persona_id: string;
  number: number;
  /** Hash of the manifest. */
  sha256: string;
  manifest: string;
  /** Last author of the tool policy, and their permission to make rules for everyone. */
  policy_author: string;
  policy_trusted: number;
  created_by: string;
  created_at: number;
}

export interface PersonaBlobRow {
  persona_id: string;
  sha256: string;
  bytes: number;
  content: string;
}

/** One row per org; holding it is the lock of its personas. */
export interface PersonaOrgRow {
  org_id: string;
  default_persona_id: string | null;
  /** Built-in personas that were created here once: a JSON array. */
  shipped: string;
}

/** Version that a session works with, until it is refreshed. */
export interface PersonaPinRow {
  session_id: string;
  org_id: string;
  persona_id: string;
  version_id: string;
  /** Slug and version number at the time of pinning; the persona may have another slug by now. */
  slug: string;
  version: number;
  pinned_at: number;
}

export interface PersonaTables {
  personas: PersonaRow;
  persona_versions: PersonaVersionRow;
  persona_blobs: PersonaBlobRow;
  persona_orgs: PersonaOrgRow;
  persona_pins: PersonaPinRow;
}

const tables = `
create table personas (
  id ID primary key, org_id ID not null, slug ID not null, name text not null,
  description text not null, icon text, visibility text not null, model text, runtime text,
  enable_memory integer, version integer not null, version_id ID not null, search_text text not null,
  created_by ID not null, created_at bigint not null, updated_at bigint not null, archived_at bigint
);
create unique index personas_slug on personas (org_id, slug) where archived_at is null;
create index personas_archived on personas (archived_at) where archived_at is not null;
create table persona_versions (
  id ID primary key, org_id ID not null, persona_id ID not null, number integer not null,
  sha256 ID not null, manifest text not null, policy_author ID not null,
  policy_trusted integer not null, created_by ID not null, created_at bigint not null
);
create unique index persona_versions_number on persona_versions (persona_id, number);
create table persona_blobs (
  persona_id ID not null, sha256 ID not null, bytes bigint not null, content text not null,
  primary key (persona_id, sha256)
);
create table persona_orgs (
  org_id ID primary key, default_persona_id ID, shipped text not null
);
create table persona_pins (
  session_id ID primary key, org_id ID not null, persona_id ID not null, version_id ID not null,
  pinned_at bigint not null
);
create index persona_pins_persona on persona_pins (persona_id);
`;

/** Backfills the version number in sessions that did not store it. */
const sessionVersions = `
update sessions set persona_version = (
  select persona_versions.number from persona_pins
  join persona_versions on persona_versions.id = persona_pins.version_id
  where persona_pins.session_id = sessions.id
) where persona_slug is not null and persona_version is null;
`;

/** Moves slug and version of pinned personas here from the rows of their sessions. */
const pinnedNames = `
alter table persona_pins add column slug ID not null default '';
alter table persona_pins add column version integer not null default 0;
update persona_pins set slug = coalesce(sessions.persona_slug, ''),
    version = coalesce(sessions.persona_version, 0)
  from sessions where sessions.id = persona_pins.session_id;
create index persona_pins_slug on persona_pins (slug, session_id);
update sessions set labels = trim(labels || ' persona')
  where id in (select session_id from persona_pins);
alter table sessions drop column persona_slug;
alter table sessions drop column persona_version;
`;

export const personaMigrations: readonly Migration[] = [
  { id: "personas-0001", statements: (dialect) => ddl(dialect, tables) },
  { id: "personas-0002-session-versions", statements: (dialect) => ddl(dialect, sessionVersions) },
  { id: "personas-0003-pinned-names", statements: (dialect) => ddl(dialect, pinnedNames) },
];
