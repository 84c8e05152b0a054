/** Tables of orchestrators: identities, preferences of people, and admin settings. */
import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";
import type { QueueMode } from "#protocol/sessions.ts";
import type { MailRule, Style } from "./contract.ts";

/** One row per person. Locking the row serializes starts and restarts of the orchestrator. */
export interface IdentityRow {
  org_id: string;
  user_id: string;
  name: string;
  handle: string;
  /** Handle in lower case, computed here because databases fold case differently. */
  handle_key: string;
  avatar: string | null;
  style: Style;
  custom_instructions: string | null;
  accepts_agent_mail: MailRule;
  /** Times of recent restarts without a person, as a JSON array of instants. */
  restarts: string;
  /** Time when automatic recovery stopped. */
  stopped_at: number | null;
  created_at: number;
  updated_at: number;
}

export interface PreferencesRow {
  org_id: string;
  user_id: string;
  idle_ms: number | null;
  queue_mode: QueueMode | null;
  model: string | null;
}

export interface SettingsRow {
  org_id: string;
  model: string | null;
}

/** Uploaded image, one per person. */
export interface AvatarRow {
  org_id: string;
  user_id: string;
  media_type: string;
  data: Uint8Array;
  updated_at: number;
}

export interface OrchestratorTables {
  orchestrator_avatars: AvatarRow;
  orchestrator_identities: IdentityRow;
  orchestrator_preferences: PreferencesRow;
  orchestrator_settings: SettingsRow;
}

const tables = `
create table orchestrator_identities (
  org_id ID not null, user_id ID not null, name text not null, handle text not null,
  handle_key ID not null, avatar text, style text not null, custom_instructions text,
  accepts_agent_mail text not null, restarts text not null, stopped_at bigint,
  created_at bigint not null, updated_at bigint not null, primary key (org_id, user_id)
);
create unique index orchestrator_handles on orchestrator_identities (org_id, handle_key);
create table orchestrator_preferences (
  org_id ID not null, user_id ID not null, idle_ms bigint, queue_mode text, model text,
  primary key (org_id, user_id)
);
create table orchestrator_settings (org_id ID primary key, model text);
`;

const avatarTable = `
create table orchestrator_avatars (
  org_id ID not null, user_id ID not null, media_type text not null, data BYTES not null,
  updated_at bigint not null, primary key (org_id, user_id)
);
`;

export const orchestratorMigrations: readonly Migration[] = [
  { id: "orchestrators-0001-identities", statements: (dialect) => ddl(dialect, tables) },
  { id: "orchestrators-0024-avatars", statements: (dialect) => ddl(dialect, avatarTable) },
];
