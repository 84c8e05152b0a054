/**
 * The tables of delegation: who is whose child, what parents are to be told, what they wait for.
 * A link is the one record of parent and child; `parent_session_id` of the session says the same.
 */
import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";
import type { WorkerEventType } from "./contract.ts";

export interface LinkRow {
  /** The child. */
  session_id: string;
  org_id: string;
  parent_session_id: string;
  /** The parent's conversation that the child was made in, and that hears of it. */
  parent_thread: string;
  /** 1: it was begun with a summary of what its parent knows. */
  handoff: number;
  /** 1: its parent ended it by itself and is told nothing more of it. */
  is_silent: number;
  /** A turn that its parent stopped, whose end is no news to it. */
  quiet_run: string | null;
  /** What of its budget its parent has back; it gets that again when it is woken. */
  returned_micros: number;
  /** What of its parent's budget it has or has spent; null: its parent had none to take it from. */
  reserved_micros: number | null;
  created_at: number;
}

export interface WorkerEventRow {
  id: string;
  org_id: string;
  /** The parent, who is to be told. */
  session_id: string;
  /** Counts up in a parent's inbox: what came first is told first. */
  number: number;
  thread: string;
  child_id: string;
  child_name: string;
  type: WorkerEventType;
  payload: string;
  cause_key: string;
  /** The prompt that tells it; null while none does. */
  prompt_id: string | null;
  /** When it was read without a prompt. */
  read_at: number | null;
  at: number;
}

export interface WaitRow {
  session_id: string;
  thread: string;
  org_id: string;
  /** The children whose news end the wait, as JSON; null: any. */
  children: string | null;
  /** `time`: it sleeps, and children are not what it waits for. */
  kind: "children" | "time";
  /** When it is woken at the latest; null: no time was set. */
  until: number | null;
  created_at: number;
}

/** A session that said it is done: it ends with the turn it said so in. */
export interface CompletionRow {
  session_id: string;
  org_id: string;
  run_id: string;
  summary: string;
}

/** How far a tree has gone since a person last said something in it. */
export interface UnattendedRow {
  /** The root. */
  session_id: string;
  org_id: string;
  /** Begun by agents and by wake-ups. */
  turns: number;
  /** 1: they are as many as there may be. */
  is_held: number;
  /** 1: a notice says so. */
  is_said: number;
}

export interface DelegationTables {
  session_unattended: UnattendedRow;
  session_completions: CompletionRow;
  session_links: LinkRow;
  worker_events: WorkerEventRow;
  session_waits: WaitRow;
}

const tables = `
create table session_links (
  session_id ID primary key, org_id ID not null, parent_session_id ID not null,
  parent_thread ID not null, handoff integer not null, is_silent integer not null, quiet_run ID,
  returned_micros bigint not null, created_at bigint not null
);
create index session_links_parent on session_links (parent_session_id);
create table worker_events (
  id ID primary key, org_id ID not null, session_id ID not null, number bigint not null,
  thread ID not null, child_id ID not null, child_name text not null, type ID not null, payload text not null,
  cause_key ID not null unique, prompt_id ID, read_at bigint, at bigint not null
);
create index worker_events_parent on worker_events (session_id, number);
create index worker_events_prompt on worker_events (prompt_id) where prompt_id is not null;
create table session_completions (
  session_id ID primary key, org_id ID not null, run_id ID not null, summary text not null
);
create table session_waits (
  session_id ID not null, thread ID not null, org_id ID not null, children text,
  created_at bigint not null, primary key (session_id, thread)
);
`;

/** What an agent gave its child was taken out of its own; what a person gave a child was not. */
const bounds = `
alter table session_links add column reserved_micros bigint;
update session_links set reserved_micros = (
  select child.budget_micros from sessions child
  join sessions parent on parent.id = session_links.parent_session_id
  where child.id = session_links.session_id and parent.budget_micros is not null
  and child.created_by = 'session:' || session_links.parent_session_id
);
create table session_unattended (
  session_id ID primary key, org_id ID not null, turns integer not null,
  is_held integer not null, is_said integer not null
);
`;

const waitTimes = `
alter table session_waits add column kind ID not null default 'children';
alter table session_waits add column until bigint;
`;

export const delegationMigrations: readonly Migration[] = [
  { id: "delegation-0001-links", statements: (dialect) => ddl(dialect, tables) },
  { id: "delegation-0002-bounds", statements: (dialect) => ddl(dialect, bounds) },
  { id: "delegation-0003-wait-times", statements: (dialect) => ddl(dialect, waitTimes) },
];
