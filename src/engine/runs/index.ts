export type { Dispatcher } from "./dispatcher.ts";
export { readyBacklog } from "./queries.ts";
export type { RunnerConnection, RunnerLink } from "./runner-connection.ts";
export { findSandboxKind } from "./runners.ts";
