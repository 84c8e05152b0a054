/**
 * Tables of the kernel. Every row has its org, its owner and its creator. Instants are epoch
 * milliseconds, booleans 0 or 1, JSON is text, money is in micro-units: one form for both
 * databases. States are readonly here: they change by the tables in `transitions/`, which return
 * the columns to set.
 */
import type { EventType } from "#protocol/events.ts";
import type { ExecutionMode, RunState, RunType } from "#protocol/runs.ts";
import type { EntryKind, Lifecycle, Outcome, QueueMode, SessionKind } from "#protocol/sessions.ts";
import type { AgentRole } from "#protocol/tools.ts";
import type { GateRow } from "./gates/schema.ts";
import type { OutboxRow } from "./outbox/schema.ts";
import type { RetentionHoldRow, RetentionSettingRow } from "./retention/retention-schema.ts";
import type { PromptRow } from "./sessions/prompt-schema.ts";
import type { TurnChangesRow, WorkspaceFileRow, WorkspaceRow } from "./workspace-schema.ts";

export type { GateRow } from "./gates/schema.ts";
export type { OutboxRow } from "./outbox/schema.ts";
export type { PromptRow } from "./sessions/prompt-schema.ts";
export type { WorkspaceRow } from "./workspace-schema.ts";

export interface OrgRow {
  id: string;
  name: string;
  slug: string;
  created_at: number;
}

export interface UserRow {
  id: string;
  org_id: string;
  name: string;
  email: string | null;
  role: "admin" | "member";
  timezone: string;
  locale: string;
  created_at: number;
}

export type CredentialKind = "owner_key" | "api_key" | "sign_in_link" | "cookie" | "runner" | "run";

export interface CredentialRow {
  id: string;
  org_id: string;
  kind: CredentialKind;
  /** sha256 of the secret; the secret itself is shown once and stored nowhere. */
  hash: string;
  name: string;
  principal_kind: "user" | "runner" | "session";
  principal_id: string;
  scopes: string;
  created_by: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
  revoked_at: number | null;
}

export interface SessionRow {
  id: string;
  org_id: string;
  owner_id: string | null;
  created_by: string;
  title: string | null;
  kind: SessionKind;
  purpose: "task" | "review";
  readonly lifecycle: Lifecycle;
  parent_session_id: string | null;
  root_session_id: string;
  depth: number;
  runtime: string;
  model: string | null;
  repo: string | null;
  branch: string | null;
  scope_key: string | null;
  queue_mode: QueueMode;
  instructions: string | null;
  budget_micros: number | null;
  project_dir: string | null;
  /** 1: the session may use the folder of a runner's machine that `repo` or `project_dir` names. */
  may_use_path: number;
  agent_name: string | null;
  executor_session_id: string | null;
  executor_profile: string | null;
  executor_type: string | null;
  hostname: string | null;
  readonly incarnation: number;
  /** 1: one live run at a time; 0: threads run side by side. */
  exclusive: number;
  /** Role that a feature has given the agent; null for the role that follows from kind and parent. */
  role: AgentRole | null;
  /** Words that features have attached, in order and separated by spaces; see `sessions/labels.ts`. */
  labels: string;
  /** 1: the session has ended its turn to wait for an event. */
  awaiting: number;
  /** Event that the session waits for; null while it does not wait. */
  awaiting_kind: "children" | "time" | null;
  /** Time when the session is woken at the latest, if it has set one. */
  awaiting_until: number | null;
  /** Idle time before the session hibernates; null for the server's default. */
  idle_ms: number | null;
  last_seq: number;
  next_position: number;
  waiting: number;
  prompts_total: number;
  /** 1: the log has a `session_start` without its `session_stop`. */
  started: number;
  /** Requirements that hold for all runs of the session, as JSON; null for none. */
  demands: string | null;
  /** Prompts and answers in the transcript. */
  messages_total: number;
  /** State of the most telling live run, or null when none is live. */
  readonly run_state: RunState | null;
  readonly last_outcome: Outcome | null;
  /** Error of the last turn; null when that turn did not fail. */
  last_error_code: string | null;
  last_error_message: string | null;
  cost_micros: number;
  cost_unknown: number;
  created_at: number;
  updated_at: number;
  last_resumed_at: number | null;
  archived_at: number | null;
}

/** A purged session whose own row is gone, while its bulk rows wait to be deleted. */
export interface SessionRemainsRow {
  session_id: string;
  org_id: string;
  owner_id: string | null;
  created_at: number;
}

/** Read access of somebody who does not own the session. */
export interface SessionOpenRow {
  /** Id of the access, and of the entry that notifies the owner. */
  id: string;
  org_id: string;
  session_id: string;
  user_id: string;
  reason: string;
  created_at: number;
  expires_at: number;
}

export interface ThreadRow {
  id: string;
  org_id: string;
  session_id: string;
  name: string;
  /** Seq before which history is hidden from the model (a fresh context); it stays readable. */
  context_after_seq: number;
  /** Replaces the history up to `summary_through_seq` for the model. */
  summary: string | null;
  summary_through_seq: number;
  /** Failed summaries in a row, and the time when the next may be made. */
  summary_failures: number;
  summary_retry_at: number;
  created_at: number;
}

export interface RunRow {
  id: string;
  org_id: string;
  owner_id: string | null;
  created_by: string;
  session_id: string;
  thread: string;
  prompt_id: string;
  type: RunType;
  readonly state: RunState;
  readonly outcome: Outcome | null;
  execution_mode: ExecutionMode;
  runtime: string;
  agent_name: string | null;
  demands: string;
  demand_key: string;
  exclusive: number;
  pinned_runner_id: string | null;
  readonly runner_id: string | null;
  readonly runner_boot: string | null;
  readonly server_boot: string | null;
  readonly fence: number;
  attempts: number;
  strikes: number;
  blameless: number; // consecutive losses that were not the prompt's fault
  lost_runner_id: string | null; // runner that lost the run last: others are preferred for a moment
  /** 1 when the current attempt has journaled something. */
  progressed: number;
  /** Last ordinal appended under the current fence. */
  journaled: number;
  /** Items and characters that the turn has journaled, over all attempts. */
  turn_items: number;
  turn_chars: number;
  /** Seq of the session when the turn began; its journal follows. */
  first_seq: number;
  readonly lease_until: number | null;
  stop_reason: string | null;
  /** Time when the run is ended by force. */
  stop_by: number | null;
  /** Prompt that cut this turn. */
  stop_by_prompt: string | null;
  /** Reason for waiting until `available_at`, as JSON; null when the run was not paused. */
  pause: string | null;
  /** Time that models and tools took, over all attempts; waiting for people does not count. */
  worked_ms: number;
  /** 1 when the price of a request was not known, so that the cost is incomplete. */
  unpriced: number;
  /** Model of the session when the current attempt was claimed; null for the runner's default. */
  model: string | null;
  /**
   * Fence of the last attempt that used the model gateway: for it the server counts, not the
   * runner.
   */
  metered_fence: number;
  /** Last reason why the model stopped writing, in its provider's word. */
  model_stop: string | null;
  error_code: string | null;
  error_message: string | null;
  result: string | null;
  input_tokens: number;
  output_tokens: number;
  cost_micros: number | null;
  ready_at: number;
  available_at: number;
  created_at: number;
  claimed_at: number | null;
  started_at: number | null;
  settled_at: number | null;
}

export interface EventRow {
  session_id: string;
  seq: number;
  org_id: string;
  type: EventType;
  v: number;
  at: number;
  thread: string | null;
  prompt_id: string | null;
  run_id: string | null;
  entry_id: string | null;
  kind: EntryKind | null;
  role: "user" | "assistant" | "system" | null;
  content: string | null;
  tool_name: string | null;
  tool_input: string | null;
  tool_output: string | null;
  error: string | null;
  exit_code: number | null;
  reason: string | null;
  data: string | null;
  redacted_at: number | null;
}

export interface RunnerRow {
  id: string;
  org_id: string;
  owner_id: string | null;
  created_by: string;
  /** `org` or `user:<id>`: the runs that the runner may claim. */
  scope: string;
  credential_id: string;
  name: string;
  hostname: string;
  folder: string;
  project_dir: string | null;
  profile: string;
  tags: string;
  runtimes: string;
  capacity: number;
  version: string;
  protocol: number;
  state: "online" | "draining" | "offline";
  ready: number; // 0 while the runner does not know its models yet
  boot_id: string;
  server_id: string | null;
  /** 1: the process ends with that server, so its runs are free when the server is dead. */
  ends_with_server: number;
  models: string;
  sandbox: string | null;
  /** Last report of the disk, as JSON. */
  disk: string | null;
  /** Fingerprint of the machine's key; null for a runner that has never proved one. */
  machine: string | null;
  /** Consent to work without a sandbox, as JSON: who gave it, and when. */
  unsandboxed: string | null;
  last_seen_at: number;
  created_at: number;
}

/** Result of a server tool, kept so that the same call is performed once. */
export interface ToolResultRow {
  session_id: string;
  prompt_id: string;
  call_id: string;
  org_id: string;
  result: string;
  created_at: number;
}

export interface BlobRow {
  org_id: string;
  sha256: string;
  size: number;
  media_type: string;
  data: Buffer;
  created_at: number;
}

export interface BlobRefRow {
  org_id: string;
  sha256: string;
  session_id: string;
  media_type: string | null;
}

export interface TimerRow {
  id: string;
  org_id: string;
  kind: string;
  subject: string;
  due_at: number;
}

export interface IdempotencyRow {
  principal: string;
  key: string;
  fingerprint: string;
  resource: string;
  created_at: number;
}

export interface KernelTables {
  orgs: OrgRow;
  users: UserRow;
  credentials: CredentialRow;
  sessions: SessionRow;
  session_opens: SessionOpenRow;
  session_remains: SessionRemainsRow;
  retention_settings: RetentionSettingRow;
  retention_hold: RetentionHoldRow;
  threads: ThreadRow;
  prompts: PromptRow;
  runs: RunRow;
  events: EventRow;
  runners: RunnerRow;
  workspaces: WorkspaceRow;
  turn_changes: TurnChangesRow;
  workspace_files: WorkspaceFileRow;
  tool_results: ToolResultRow;
  gates: GateRow;
  blobs: BlobRow;
  blob_refs: BlobRefRow;
  outbox: OutboxRow;
  timers: TimerRow;
  idempotency_keys: IdempotencyRow;
}
