export type { Dispatcher } from "./dispatcher.ts";
export { countByServer, meterModelCall } from "./model-calls.ts";
export { findRun, findRunAgain, listLiveRuns, readyBacklog } from "./queries.ts";
export { requestStop } from "./request-stop.ts";
export { parseRunOptions } from "./run-options.ts";
export type { RunnerConnection } from "./runner-connection.ts";
export { isFindingModels, listModelOffers } from "./runner-desk.ts";
export { findRunner } from "./runner-queries.ts";
export { isIsolatedRunner } from "./runners.ts";
