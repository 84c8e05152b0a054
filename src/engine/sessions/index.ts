export {
  admitPrompt,
  type BlobInput,
  type NewPrompt,
} from "./admit-prompt.ts";
export { showAwaiting } from "./awaiting.ts";
export { withBindings } from "./bindings.ts";
export { editPrompt, withdrawPrompt } from "./change-queue.ts";
export { createSession, type NewSession } from "./create-session.ts";
export { describeSession, describeSessions } from "./describe-session.ts";
export { findLastEntry, listCallEvents, listEntries } from "./event-queries.ts";
export { entryView, isoTime } from "./event-view.ts";
export { fallAsleep } from "./fall-asleep.ts";
export { changeLifecycle, endSession, restart, revive, terminateTree } from "./lifecycle.ts";
export { listOverseen, openSession } from "./oversee.ts";
export { findPrompt, markWaiting } from "./prompt-queries.ts";
export { admitFrom, isRetryable } from "./prompts.ts";
export { purgeEnded } from "./purge.ts";
export { findSession, listActiveOwners, listChildren } from "./queries.ts";
export { requireReadable } from "./reading.ts";
export { newSession, type SessionRequest } from "./session-request.ts";
export { treeTop, viewSession } from "./states.ts";
export { stopTurn, turnsToStop } from "./stop-turn.ts";
export { promptView } from "./views.ts";
