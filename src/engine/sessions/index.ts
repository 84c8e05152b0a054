export { withBindings } from "./bindings.ts";
export { createSession, type NewSession } from "./create-session.ts";
export { describeSession, describeSessions } from "./describe-session.ts";
export { hasLabel, setLabel } from "./labels.ts";
export { fallAsleep } from "./lifecycle/fall-asleep.ts";
export {
  changeLifecycle,
  endSession,
  restart,
  revive,
  terminateTree,
} from "./lifecycle/lifecycle.ts";
export { findLastEntry, listCallEvents, listEntries } from "./log/event-queries.ts";
export { entryView, isoTime } from "./log/event-view.ts";
export { listOverseen, openSession } from "./oversee.ts";
export { admitPrompt, type NewPrompt } from "./prompts/admit-prompt.ts";
export type { BlobInput } from "./prompts/attachments.ts";
export { showAwaiting } from "./prompts/awaiting.ts";
export { editPrompt, withdrawPrompt } from "./prompts/change-queue.ts";
export { findPrompt, markWaiting } from "./prompts/prompt-queries.ts";
export { admitFrom, isRetryable } from "./prompts/prompts.ts";
export { purgeEnded } from "./purge/purge.ts";
export { findSession, listActiveOwners, listChildren } from "./queries.ts";
export { type ReadContext, readContext } from "./read-context.ts";
export { requireReadable } from "./session-access.ts";
export { newSession, type SessionRequest } from "./session-request.ts";
export { treeTop, viewSession } from "./states.ts";
export { stopTurn, turnsToStop } from "./turns/stop-turn.ts";
export { promptView } from "./views.ts";
