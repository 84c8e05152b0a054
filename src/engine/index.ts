/** The kernel's front door. */
export type { Announcer, SessionWatcher } from "./announce.ts";
export {
  type Brief,
  type Deliverer,
  defineRoute,
  type Feature,
  type RawAnswer,
  type Route,
  type RouteRequest,
  type Sweep,
  type TimerHandler,
} from "./feature.ts";
export { fingerprintOf, type IdempotentRequest } from "./idempotency.ts";
export { createKernel, type Kernel } from "./kernel.ts";
export { ddl, kernelMigrations } from "./migrations.ts";
export {
  type Action,
  may,
  type Principal,
  principalKey,
  requireMay,
  requireOrg,
} from "./principal.ts";
export type {
  CredentialKind,
  CredentialRow,
  GateRow,
  KernelTables,
  OrgRow,
  RunRow,
  SessionRow,
  UserRow,
} from "./schema.ts";
export {
  command,
  type EndedCall,
  type Engine,
  type JudgedCall,
  type KernelEvent,
  type Listener,
  type SessionWriter,
  type Work,
} from "./work.ts";
