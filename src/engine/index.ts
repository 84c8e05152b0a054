/** Front door of the kernel. */

export type { Announcer, SessionWatcher } from "./announce.ts";
export type { EndedCall, JudgedCall } from "./call-facts.ts";
export {
  type Brief,
  type Deliverer,
  type Feature,
  type Person,
  type RawAnswer,
  type RepositoryOpener,
  type Route,
  type RouteRequest,
  type Searchable,
  type SearchableRow,
  type Sweep,
  serve,
  type TimerHandler,
} from "./feature.ts";
export { forEachIndependently } from "./for-each-independently.ts";
export { createKernel, type Kernel } from "./kernel.ts";
export { ddl, kernelMigrations } from "./migrations.ts";
export { findRepeated, fingerprintOf, type IdempotentRequest } from "./requests/idempotency.ts";
export {
  type Action,
  may,
  type Principal,
  partyOf,
  principalKey,
  requireMay,
  requireOrg,
  requireSignedIn,
  sessionResource,
} from "./requests/principal.ts";
export { kernelRetention } from "./retention/kernel-retention.ts";
export {
  type RetentionRule,
  readRetention,
  retentionCutoff,
  retentionDays,
} from "./retention/retention.ts";
export {
  forgetRetentionDays,
  listRetentionDays,
  oldRows,
  saveRetentionDays,
} from "./retention/retention-queries.ts";
export { isRunToken } from "./runs/runners/run-tokens.ts";
export type {
  CredentialKind,
  CredentialRow,
  GateRow,
  KernelTables,
  OrgRow,
  PromptRow,
  RunRow,
  SessionRow,
  UserRow,
} from "./schema.ts";
export { clearTimer, setTimer } from "./timers/timers.ts";
export {
  command,
  createChangeReporter,
  type Engine,
  type KernelEvent,
  type Listener,
  type ReportChange,
  type RequestedFields,
  type SessionWriter,
  type SettingChange,
  type Work,
} from "./work.ts";
