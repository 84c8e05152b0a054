export type { Dispatcher } from "./dispatcher.ts";
export { findRun, listLiveRuns, readyBacklog } from "./queries.ts";
export { parseRunOptions } from "./run-options.ts";
export type { RunnerConnection } from "./runner-connection.ts";
export { isFindingModels, listModelOffers } from "./runner-desk.ts";
export { isIsolatedRunner } from "./runners.ts";
