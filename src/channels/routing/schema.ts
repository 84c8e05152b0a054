/** Bindings of conversations in channels to sessions. */
import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";
import type { QueueMode } from "#protocol/sessions.ts";

export interface BindingRow {
  id: string;
  org_id: string;
  session_id: string;
  channel_type: string;
  channel_id: string;
  scope_key: string;
  user_id: string;
  /** Null: the session's own mode. */
  queue_mode: QueueMode | null;
  created_at: number;
}

export interface RoutingTables {
  channel_bindings: BindingRow;
}

const tables = `
create table channel_bindings (
  id ID primary key, org_id ID not null, session_id ID not null, channel_type ID not null,
  channel_id ID not null, scope_key ID not null, user_id ID not null, queue_mode text,
  created_at bigint not null
);
create unique index channel_bindings_scope on channel_bindings (org_id, scope_key);
create index channel_bindings_session on channel_bindings (session_id);
insert into channel_bindings
  select 'bnd_' || id, org_id, id, 'web', 'user:' || owner_id || ':manual:' || id,
    'user:' || owner_id || ':manual:' || id, owner_id, null, created_at
  from sessions where owner_id is not null
`;

export const routingMigrations: readonly Migration[] = [
  { id: "routing-0001-bindings", statements: (dialect) => ddl(dialect, tables) },
];
