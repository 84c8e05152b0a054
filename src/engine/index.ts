/** The kernel's front door. */
export type { Announcer, SessionWatcher } from "./announce.ts";
export type { Deliverer, Feature, TimerHandler } from "./feature.ts";
export { fingerprintOf, type IdempotentRequest } from "./idempotency.ts";
export { createKernel, type Kernel } from "./kernel.ts";
export { kernelMigrations } from "./migrations.ts";
export { type Action, may, type Principal, principalKey, requireMay } from "./principal.ts";
export type { CredentialKind, CredentialRow, KernelTables, OrgRow, UserRow } from "./schema.ts";
export { command, type Engine, type KernelEvent, type Listener, type Work } from "./work.ts";
