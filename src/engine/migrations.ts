/** Migrations of the kernel's tables. Steps are only ever added. */
import type { Dialect, Migration } from "#base/store/index.ts";

const LIVE_RUN = "state in ('pending', 'claimed', 'running', 'gated', 'stopping')";

/** Column types of a dialect: `ID` sorts by bytes on both databases; `BYTES` is their blob. */
export function ddl(dialect: Dialect, text: string): string[] {
  const id = dialect === "postgres" ? 'text collate "C"' : "text";
  const bytes = dialect === "postgres" ? "bytea" : "blob";
  return text
    .replaceAll(/\bID\b/g, id)
    .replaceAll(/\bBYTES\b/g, bytes)
    .split(";")
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

const peopleTables = `
create table orgs (
  id ID primary key, name text not null, slug text not null unique, created_at bigint not null
);
create table users (
  id ID primary key, org_id ID not null, name text not null, email text, role text not null,
  timezone text not null, locale text not null, created_at bigint not null
);
create unique index users_email on users (email) where email is not null;
create table credentials (
  id ID primary key, org_id ID not null, kind text not null, hash ID not null unique, name text not null,
  principal_kind text not null, principal_id ID not null, scopes text not null, created_by ID not null,
  created_at bigint not null, expires_at bigint, last_used_at bigint, revoked_at bigint
);
create index credentials_principal on credentials (principal_id, kind);
`;

const sessionTables = `
create table sessions (
  id ID primary key, org_id ID not null, owner_id ID, created_by ID not null, title text, kind text not null,
  purpose text not null, lifecycle text not null, parent_session_id ID, root_session_id ID not null,
  depth integer not null, runtime text not null, model text, repo text, branch text, persona_slug text,
  scope_key text, queue_mode text not null, instructions text, enable_memory integer not null,
  budget_micros bigint, project_dir text, agent_name text, executor_session_id ID, executor_profile text,
  executor_type text, hostname text, incarnation integer not null, exclusive integer not null,
  last_seq bigint not null, next_position bigint not null, waiting integer not null,
  prompts_total bigint not null, run_state text, last_outcome text, cost_micros bigint not null,
  cost_unknown integer not null, created_at bigint not null, updated_at bigint not null,
  last_resumed_at bigint, archived_at bigint
);
create index sessions_listed on sessions (org_id, owner_id, created_at, id);
create index sessions_active on sessions (org_id, owner_id) where lifecycle = 'active';
create index sessions_parent on sessions (parent_session_id) where parent_session_id is not null;
create index sessions_executor on sessions (executor_session_id) where executor_session_id is not null;
create index sessions_hostname on sessions (hostname) where hostname is not null;
create index sessions_archived on sessions (archived_at) where archived_at is not null;
create table threads (
  id ID primary key, org_id ID not null, session_id ID not null, name text not null,
  context_after_seq bigint not null, created_at bigint not null
);
create unique index threads_name on threads (session_id, name);
create table prompts (
  id ID primary key, org_id ID not null, owner_id ID, created_by ID not null, session_id ID not null,
  thread text not null, author_kind text not null, author_id ID not null, author_name text not null,
  origin text not null, mode text not null, state text not null, outcome text, rank integer not null,
  position bigint not null, content text not null, attachments text not null, content_hash text not null,
  dispatch_id text, cause_key ID, run_id ID not null, run_options text, attempts integer not null,
  superseded_by ID, merged_into ID, error_code text, error_message text, accepted_at bigint not null,
  queued_at bigint, started_at bigint, settled_at bigint
);
create unique index prompts_dispatch on prompts (session_id, dispatch_id) where dispatch_id is not null;
create unique index prompts_cause on prompts (cause_key) where cause_key is not null;
create unique index prompts_run on prompts (run_id);
create index prompts_waiting on prompts (session_id, rank, position) where state in ('queued', 'collecting');
create index prompts_listed on prompts (session_id, accepted_at, id);
create table events (
  session_id ID not null, seq bigint not null, org_id ID not null, type text not null, v integer not null,
  at bigint not null, thread text, prompt_id ID, run_id ID, entry_id ID, kind text, role text, content text,
  tool_name text, tool_input text, tool_output text, error text, exit_code integer, reason text, data text,
  redacted_at bigint, primary key (session_id, seq)
);
create table blobs (
  org_id ID not null, sha256 ID not null, size bigint not null, media_type text not null, data BYTES not null,
  created_at bigint not null, primary key (org_id, sha256)
);
create table idempotency_keys (
  principal ID not null, key text not null, fingerprint text not null, resource ID not null,
  created_at bigint not null, primary key (principal, key)
);
create index idempotency_age on idempotency_keys (created_at);
`;

const runTables = `
create table runs (
  id ID primary key, org_id ID not null, owner_id ID, created_by ID not null, session_id ID not null,
  thread text not null, prompt_id ID not null unique, type text not null, state text not null, outcome text,
  execution_mode text not null, runtime text not null, agent_name text, demands text not null,
  demand_key text not null, exclusive integer not null, pinned_runner_id ID, runner_id ID, runner_boot ID,
  server_boot ID, fence integer not null, attempts integer not null, strikes integer not null,
  progressed integer not null, journaled integer not null, first_seq bigint not null, lease_until bigint,
  stop_reason text, stop_by bigint, stop_by_prompt ID, error_code text, error_message text, result text,
  input_tokens bigint not null, output_tokens bigint not null, cost_micros bigint, ready_at bigint not null,
  available_at bigint not null, created_at bigint not null, claimed_at bigint, started_at bigint,
  settled_at bigint
);
create unique index runs_one_per_session on runs (session_id) where exclusive = 1 and ${LIVE_RUN};
create unique index runs_one_per_thread on runs (session_id, thread) where ${LIVE_RUN};
create index runs_ready on runs (ready_at, id) where state = 'pending';
create index runs_held on runs (runner_id) where state in ('claimed', 'running', 'gated', 'stopping');
create index runs_listed on runs (session_id, created_at, id);
create table runners (
  id ID primary key, org_id ID not null, owner_id ID, created_by ID not null, scope ID not null,
  credential_id ID not null, name text not null, hostname text not null, folder text not null,
  project_dir text, profile text not null, tags text not null, runtimes text not null,
  capacity integer not null, version text not null, protocol integer not null, state text not null,
  boot_id ID not null, server_id ID, last_seen_at bigint not null, created_at bigint not null
);
create table workspaces (
  id ID primary key, org_id ID not null, session_id ID not null, runner_id ID not null,
  bytes bigint not null, created_at bigint not null
);
create unique index workspaces_session on workspaces (session_id);
create table gates (
  id ID primary key, org_id ID not null, session_id ID not null, thread text not null, prompt_id ID not null,
  run_id ID not null, call_id text not null, kind text not null, tool text not null, target text,
  shown text not null, state text not null, decision text, decided_by ID, asked_at bigint not null,
  expires_at bigint not null, decided_at bigint
);
create unique index gates_call on gates (prompt_id, call_id);
create index gates_session on gates (session_id);
create index gates_pending on gates (expires_at) where state = 'pending';
create table outbox (
  id ID primary key, org_id ID not null, kind text not null, cause_key ID not null unique,
  payload text not null, state text not null, attempts integer not null, due_at bigint not null,
  last_error text, created_at bigint not null, delivered_at bigint
);
create index outbox_due on outbox (due_at) where state = 'pending';
create table timers (
  id ID primary key, org_id ID not null, kind text not null, subject ID not null, due_at bigint not null
);
create unique index timers_subject on timers (kind, subject);
create index timers_due on timers (due_at);
`;

const nativeTables = `
alter table threads add column summary text;
alter table threads add column summary_through_seq bigint not null default 0;
alter table runs add column pause text;
alter table runs add column worked_ms bigint not null default 0;
alter table runs add column unpriced integer not null default 0;
create index workspaces_runner on workspaces (runner_id);
create index gates_listed on gates (org_id, asked_at, id);
create table blob_refs (
  org_id ID not null, sha256 ID not null, session_id ID not null,
  primary key (org_id, sha256, session_id)
);
create index blob_refs_session on blob_refs (session_id);
alter table runners add column models text not null default '[]';
alter table runners add column sandbox text;
alter table gates add column told_fence integer;
alter table workspaces add column changes text;
alter table workspaces add column updated_at bigint not null default 0;
create index sessions_idle on sessions (updated_at) where lifecycle = 'active' and run_state is null;
create table turn_changes (
  session_id ID not null, prompt_id ID not null, org_id ID not null, changes text not null,
  created_at bigint not null, primary key (session_id, prompt_id)
);
create table workspace_files (
  session_id ID not null, path ID not null, org_id ID not null, sha256 ID not null,
  media_type text not null, size bigint not null, updated_at bigint not null,
  primary key (session_id, path)
);
create table tool_results (
  session_id ID not null, prompt_id ID not null, call_id ID not null, org_id ID not null,
  result text not null, created_at bigint not null, primary key (prompt_id, call_id)
);
create index tool_results_session on tool_results (session_id);
`;

const overseenTables = `
create table session_opens (
  id ID primary key, org_id ID not null, session_id ID not null, user_id ID not null,
  reason text not null, created_at bigint not null, expires_at bigint not null
);
create index session_opens_session on session_opens (session_id, user_id, expires_at);
create index session_opens_user on session_opens (user_id, expires_at);
create index sessions_of_org on sessions (org_id, created_at, id);
`;

const delegationColumns = `
alter table sessions add column supervisor integer not null default 0;
alter table sessions add column awaiting integer not null default 0;
`;

const idleColumn = "alter table sessions add column idle_ms bigint";

const deferredColumn = "alter table gates add column deferred integer not null default 0";

const planColumns = `
alter table sessions add column plan_required integer not null default 0;
alter table sessions add column plan_state text;
`;

/**
 * Grants for sessions made before the column existed: those of an admin may use the folder they
 * name, and so may children that work on the same one. A member's session was never allowed to.
 */
const pathColumn = `
alter table sessions add column may_use_path integer not null default 0;
update sessions set may_use_path = 1
  where (repo like '/%' or project_dir is not null)
    and created_by in (select 'user:' || id from users where role = 'admin');
update sessions set may_use_path = 1
  where (repo like '/%' or project_dir is not null) and created_by like 'session:%'
    and exists (
      select 1 from sessions top where top.id = sessions.root_session_id and top.may_use_path = 1
        and (top.repo = sessions.repo or (sessions.repo is null and top.project_dir = sessions.project_dir))
    )
`;

const activeIndexes = `
create index sessions_active_in_org on sessions (org_id) where lifecycle = 'active';
create index sessions_held_asleep on sessions (id) where lifecycle = 'hibernated' and waiting > 0;
`;

const stoppedIndex =
  "create index runs_stopped on runs (session_id, settled_at) where stop_reason = 'stop'";

/** A machine has one runner row, whatever token its runner uses. */
const machineColumn = `
alter table runners add column machine ID;
create unique index runners_machine on runners (org_id, machine) where machine is not null;
`;

const lossColumns = `
alter table runs add column blameless integer not null default 0;
alter table runs add column lost_runner_id ID;
alter table runners add column ready integer not null default 1;
`;

/** One row: the check value of the key that this database was written with; see `base/secrets/secret-key.ts`. */
const secretKeyTable = `
create table secret_key (
  id integer primary key, check_value text not null, created_at bigint not null
);
`;

const consentColumn = "alter table runners add column unsandboxed text";

/** Last report of a runner's disk; see `protocol/reports/disk-report.ts`. */
const diskColumn = "alter table runners add column disk text";

const blobTypeColumn = "alter table blob_refs add column media_type text";

const meteredColumns = `
alter table runs add column model text;
alter table runs add column metered_fence integer not null default 0;
`;

/** Runners that end with their server, because it runs or started them. */
const endsWithServerColumn =
  "alter table runners add column ends_with_server integer not null default 0";
/** Sessions that are being purged; and the retention that an admin has set for each kind of row. */
const growthTables = `
create table session_remains (
  session_id ID primary key, org_id ID not null, owner_id ID, created_at bigint not null
);
create index session_remains_age on session_remains (created_at);
create index session_remains_owner on session_remains (org_id, owner_id);
create table retention_settings (
  kind ID primary key, days integer, set_by ID not null, set_at bigint not null
);
create index outbox_settled on outbox (created_at) where state in ('delivered', 'dead');
alter table threads add column summary_failures integer not null default 0;
alter table threads add column summary_retry_at bigint not null default 0;
`;

const turnSizeColumns = `
alter table runs add column turn_items bigint not null default 0;
alter table runs add column turn_chars bigint not null default 0;
`;

/** Last reason why the model of a turn stopped writing. */
const modelStopColumn = "alter table runs add column model_stop text";

/** Runs are pinned by their runner, so no query looks for sessions by these. */
const unusedIndexes = "drop index sessions_executor; drop index sessions_hostname";

/** After a restore, nothing is removed by retention for a while. */
const retentionHoldTable =
  "create table retention_hold (id integer primary key, until bigint not null)";

/**
 * Columns that make states explicit: what a session waits for, the start of work that has no end
 * yet, when a machine with files was found to be gone, and an index of turns that are being ended.
 */
const stateColumns = `
alter table sessions add column awaiting_kind text;
alter table sessions add column awaiting_until bigint;
update sessions set awaiting_kind = 'children' where awaiting = 1;
alter table sessions add column started integer not null default 0;
update sessions set started = 1 where run_state in ('claimed', 'running', 'gated', 'stopping');
create index runs_stopping on runs (stop_by) where state = 'stopping';
alter table workspaces add column offline_at bigint;
alter table workspaces add column left_at bigint;
`;

/** Adds the number of messages in a transcript, and the requirements of a session's first run. */
const messagesAndRequirements = `
alter table sessions add column demands text;
alter table sessions add column messages_total bigint not null default 0;
update sessions set messages_total = counted.messages from (
  select session_id, count(*) as messages from events
  where kind in ('text', 'prompt') group by session_id
) as counted where counted.session_id = sessions.id;
`;

/** Error of a session's last turn, and the pinned version of its persona. */
const lastErrorAndPersonaVersion = `
alter table sessions add column last_error_code text;
alter table sessions add column last_error_message text;
alter table sessions add column persona_version bigint;
update sessions set last_error_code = (
  select error_code from prompts
  where prompts.session_id = sessions.id and prompts.outcome = 'failed'
  order by settled_at desc, id desc limit 1
), last_error_message = (
  select error_message from prompts
  where prompts.session_id = sessions.id and prompts.outcome = 'failed'
  order by settled_at desc, id desc limit 1
) where last_outcome = 'failed';
`;

/**
 * Notices as data, and the rights of guests from a column. Prompts of earlier versions hold both
 * only in their text, which is parsed here for the last time.
 */
const noticeColumns = `
alter table prompts add column notice text;
alter table prompts add column is_guest integer not null default 0;
alter table prompts add column ended_waiting_for text;
update prompts set is_guest = 1
  where author_kind = 'system' and content like '[mailbox, guest]%';
`;

/**
 * Supervisor mode becomes a role, and the switch of memory a label. Personas and delegation copy
 * their columns of `sessions` to their own tables and drop them there; see `persona_pins` and
 * `session_plans`.
 */
const rolesAndLabels = `
alter table sessions add column role text;
update sessions set role = 'supervisor' where supervisor = 1;
alter table sessions add column labels text not null default '';
update sessions set labels = 'memory'
  where enable_memory = 1 or kind in ('orchestrator', 'org_orchestrator');
alter table sessions drop column supervisor;
alter table sessions drop column enable_memory;
`;

export const kernelMigrations: readonly Migration[] = [
  {
    id: "0001-kernel",
    statements: (dialect) =>
      [peopleTables, sessionTables, runTables].flatMap((text) => ddl(dialect, text)),
  },
  { id: "0002-native-agent", statements: (dialect) => ddl(dialect, nativeTables) },
  { id: "0003-opened-sessions", statements: (dialect) => ddl(dialect, overseenTables) },
  { id: "0004-delegation", statements: (dialect) => ddl(dialect, delegationColumns) },
  { id: "0005-idle-time", statements: (dialect) => ddl(dialect, idleColumn) },
  { id: "0006-deferred-calls", statements: (dialect) => ddl(dialect, deferredColumn) },
  { id: "0007-active-sessions", statements: (dialect) => ddl(dialect, activeIndexes) },
  { id: "0008-plans", statements: (dialect) => ddl(dialect, planColumns) },
  { id: "0009-stopped-turns", statements: (dialect) => ddl(dialect, stoppedIndex) },
  { id: "0010-path-right", statements: (dialect) => ddl(dialect, pathColumn) },
  { id: "0011-lost-attempts", statements: (dialect) => ddl(dialect, lossColumns) },
  { id: "0012-machines", statements: (dialect) => ddl(dialect, machineColumn) },
  { id: "0013-secret-key", statements: (dialect) => ddl(dialect, secretKeyTable) },
  { id: "0014-sandbox-consent", statements: (dialect) => ddl(dialect, consentColumn) },
  { id: "0015-metered-runs", statements: (dialect) => ddl(dialect, meteredColumns) },
  { id: "0016-blob-types", statements: (dialect) => ddl(dialect, blobTypeColumn) },
  { id: "0017-runner-disk", statements: (dialect) => ddl(dialect, diskColumn) },
  { id: "0018-servers-that-died", statements: (dialect) => ddl(dialect, endsWithServerColumn) },
  { id: "0019-growth", statements: (dialect) => ddl(dialect, growthTables) },
  { id: "0020-turn-size", statements: (dialect) => ddl(dialect, turnSizeColumns) },
  { id: "0021-retention-hold", statements: (dialect) => ddl(dialect, retentionHoldTable) },
  { id: "0022-states", statements: (dialect) => ddl(dialect, stateColumns) },
  {
    id: "0023-messages-and-demands",
    statements: (dialect) => ddl(dialect, messagesAndRequirements),
  },
  {
    id: "0024-model-stop",
    statements: (dialect) => [modelStopColumn, unusedIndexes].flatMap((text) => ddl(dialect, text)),
  },
  {
    id: "0026-last-error-and-persona-version",
    statements: (dialect) => ddl(dialect, lastErrorAndPersonaVersion),
  },
  { id: "0029-notices", statements: (dialect) => ddl(dialect, noticeColumns) },
  { id: "0030-roles-and-labels", statements: (dialect) => ddl(dialect, rolesAndLabels) },
];
