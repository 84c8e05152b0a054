/**
 * Tables of delegation: links, events for parents, and waits. A link is the record of parent and
 * child; `parent_session_id` of the session repeats it.
 */
import type { Migration } from "#base/store/index.ts";
import type { PlanFate } from "#engine/gates/index.ts";
import { ddl } from "#engine/index.ts";
import type { WorkerEventType } from "./contract.ts";

export interface LinkRow {
  /** Id of the child. */
  session_id: string;
  org_id: string;
  parent_session_id: string;
  /** Thread of the parent that created the child and is notified of its events. */
  parent_thread: string;
  /** 1 if the child started with a summary of its parent's context. */
  handoff: number;
  /** 1 if the parent ended the child itself and is not notified of it any more. */
  is_silent: number;
  /** Run that the parent stopped, whose end is not reported to it. */
  quiet_run: string | null;
  /**
   * Part of the child's budget that went back to the parent; the child gets it again when it comes
   * back.
   */
  returned_micros: number;
  /**
   * Part of the parent's budget that the child holds or has spent; null if the parent had no
   * budget.
   */
  reserved_micros: number | null;
  created_at: number;
}

export interface WorkerEventRow {
  id: string;
  org_id: string;
  /** Parent that is notified. */
  session_id: string;
  /** Sequence number in the parent's inbox; events are delivered in this order. */
  number: number;
  thread: string;
  child_id: string;
  child_name: string;
  type: WorkerEventType;
  payload: string;
  cause_key: string;
  /** Prompt that delivers the event; null while there is none. */
  prompt_id: string | null;
  /** Time when the parent read the event without a prompt. */
  read_at: number | null;
  at: number;
}

export interface WaitRow {
  session_id: string;
  thread: string;
  org_id: string;
  /** Children whose events end the wait, as JSON; null for any child. */
  children: string | null;
  /** `time` for a wait that only lets time pass and waits for no child. */
  kind: "children" | "time";
  /** Latest time at which the wait ends; null if it has no timeout. */
  until: number | null;
  created_at: number;
}

/** Completion reported by a session, which is archived when the turn of the report ends. */
export interface CompletionRow {
  session_id: string;
  org_id: string;
  run_id: string;
  summary: string;
}

/** Plan of a session that has a parent: its requirement, and the state of the one presented last. */
export interface PlanRow {
  session_id: string;
  org_id: string;
  /** 1: the session may change nothing until a plan of its own is approved. */
  is_required: number;
  /** Null when no presented plan counts. */
  state: "pending" | PlanFate | null;
}

/** Turns of a tree since a person last wrote in it. */
export interface UnattendedRow {
  /** Root session of the tree. */
  session_id: string;
  org_id: string;
  /** Turns that agents and platform prompts started. */
  turns: number;
  /** 1 if the limit is reached and further turns are held. */
  is_held: number;
  /** 1 if a notice about the limit was recorded. */
  is_said: number;
}

export interface DelegationTables {
  session_unattended: UnattendedRow;
  session_completions: CompletionRow;
  session_links: LinkRow;
  session_plans: PlanRow;
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

/** Backfills reservations: an agent's child took its budget from its parent; a person's did not. */
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

/** Moves plans here from the rows of their sessions. */
const plans = `
create table session_plans (
  session_id ID primary key, org_id ID not null, is_required integer not null, state text
);
insert into session_plans (session_id, org_id, is_required, state)
  select id, org_id, plan_required, plan_state from sessions
  where plan_required = 1 or plan_state is not null;
update sessions set labels = trim(labels || ' plan')
  where id in (select session_id from session_plans);
alter table sessions drop column plan_required;
alter table sessions drop column plan_state;
`;

export const delegationMigrations: readonly Migration[] = [
  { id: "delegation-0001-links", statements: (dialect) => ddl(dialect, tables) },
  { id: "delegation-0002-bounds", statements: (dialect) => ddl(dialect, bounds) },
  { id: "delegation-0003-wait-times", statements: (dialect) => ddl(dialect, waitTimes) },
  { id: "delegation-0004-plans", statements: (dialect) => ddl(dialect, plans) },
];
