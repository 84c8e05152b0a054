/** Tables of the audit trail. No session owns their rows, so they stay when a session is removed. */
import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";
import type { AuditEvent } from "./contract.ts";

export interface AuditRow {
  id: string;
  org_id: string;
  at: number;
  category: AuditEvent["category"];
  action: AuditEvent["action"];
  severity: AuditEvent["severity"];
  session_id: string | null;
  /** Owner of the session; without a session, the person who acted. */
  user_id: string | null;
  run_id: string | null;
  metadata: string;
  /** Position in the chain; null until the row is sealed. */
  seq: number | null;
  prev_hash: string | null;
  hash: string | null;
}

/** A single row: the end of the chain. Sealing locks it. */
export interface AuditHeadRow {
  id: number;
  seq: number;
  hash: string;
  /** Keyed digest of seq and hash; empty in a trail of an earlier version. */
  mac: string;
}

/** The database was restored from a copy whose trail ended here. */
export interface AuditRestoreRow {
  id: string;
  at: number;
  seq: number;
  hash: string;
  mac: string;
}

/** A single row, once the oldest rows were removed: the present start of the chain. */
export interface AuditCutRow {
  id: number;
  /** The last removed row and its hash: the next row follows it. */
  seq: number;
  hash: string;
  /** Time of that row's event. */
  through_at: number;
  /** Time of the removal. */
  at: number;
  mac: string;
}

export interface AuditTables {
  audit_cuts: AuditCutRow;
  audit_events: AuditRow;
  audit_head: AuditHeadRow;
  audit_restores: AuditRestoreRow;
}

const tables = `
create table audit_events (
  id ID primary key, org_id ID not null, at bigint not null, category text not null,
  action text not null, severity text not null, session_id ID, user_id ID, run_id ID,
  metadata text not null, seq bigint, prev_hash text, hash text
);
create unique index audit_events_chain on audit_events (seq) where seq is not null;
create index audit_events_unsealed on audit_events (at, id) where seq is null;
create index audit_events_listed on audit_events (org_id, at, id);
create index audit_events_session on audit_events (session_id, at, id);
create index audit_events_user on audit_events (user_id, at, id);
create table audit_head (id integer primary key, seq bigint not null, hash text not null);
insert into audit_head (id, seq, hash) values (1, 0, '')
`;

const keyedHead = `
alter table audit_head add column mac text not null default '';
create table audit_restores (
  id ID primary key, at bigint not null, seq bigint not null, hash text not null, mac text not null
)
`;

const cuts = `
create table audit_cuts (
  id integer primary key, seq bigint not null, hash text not null, through_at bigint not null,
  at bigint not null, mac text not null
)
`;

export const auditMigrations: readonly Migration[] = [
  { id: "audit-0001-trail", statements: (dialect) => ddl(dialect, tables) },
  { id: "audit-0002-keyed-head", statements: (dialect) => ddl(dialect, keyedHead) },
  { id: "audit-0003-cuts", statements: (dialect) => ddl(dialect, cuts) },
];
