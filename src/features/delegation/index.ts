/**
 * Delegation: parents and children, for any kind of parent. It links them, notifies parents of
 * their children's events, and implements the actions of a parent; orchestrators and supervisors
 * offer those to agents as tools.
 */
import type { Feature } from "#engine/index.ts";
import { childTools } from "./children/child-tools.ts";
import { DEFAULT_LIMITS, type DelegationLimits } from "./children/link.ts";
import { PURGE_TIMER, purgeDue } from "./children/purge-child.ts";
import { relocateTool } from "./children/relocate-tool.ts";
import { createListener } from "./listen.ts";
import { childrenText } from "./notify/wake-text.ts";
import { describeSessions, hasPlan, planBrief } from "./plans/plan.ts";
import { judgePlan } from "./plans/plan-judge.ts";
import { planTools } from "./plans/plan-tools.ts";
import { childRegister } from "./register.ts";
import { delegationRoutes } from "./routes.ts";
import { delegationMigrations } from "./schema.ts";
import { WAIT_TIMER } from "./waits/close-wait.ts";
import { waitIsOver } from "./waits/wait.ts";

export function createDelegation(limits: Partial<DelegationLimits> = {}): Feature {
  return {
    name: "delegation",
    migrations: delegationMigrations,
    listeners: [createListener({ ...DEFAULT_LIMITS, ...limits })],
    timers: { [WAIT_TIMER]: waitIsOver, [PURGE_TIMER]: purgeDue },
    tools: [...childTools, ...planTools, relocateTool],
    judge: judgePlan,
    brief: planBrief,
    hasBrief: hasPlan,
    describeSessions,
    renderNotices: { children: childrenText },
    routes: delegationRoutes,
    register: childRegister,
    sessionTables: [
      "session_links",
      "session_links.parent_session_id",
      "worker_events",
      "session_waits",
      "session_completions",
      "session_plans",
      "session_unattended",
    ],
  };
}

export { describeChild, describeChildren, findChanges } from "./children/children.ts";
export { detachByPerson, detachChild, endChild, interruptChild } from "./children/end-child.ts";
export { isEnded, isLive } from "./children/lifecycle.ts";
export {
  DEFAULT_LIMITS,
  type DelegationLimits,
  requireChild,
  requireChildRow,
} from "./children/link.ts";
export { messageChild, type SentMessage } from "./children/message-child.ts";
export { purgeSoon } from "./children/purge-child.ts";
export { type SpawnRequest, spawnChild } from "./children/spawn.ts";
export { isHeldBack } from "./children/unattended.ts";
export type { Child, InboxItem } from "./contract.ts";
export { clearInbox } from "./notify/clear-inbox.ts";
export { readInbox } from "./notify/inbox.ts";
export { countPendingEvents } from "./notify/inbox-queries.ts";
export {
  hintInbox,
  ORCHESTRATION,
  type OrchestrationAction,
  recordAgentAction,
  recordOrchestration,
} from "./notify/note.ts";
export { childEventOf, takePendingEvents } from "./notify/notify-parent.ts";
export { wakeText } from "./notify/wake-text.ts";
export { cutPayload, inQuotes, shareOf } from "./notify/words.ts";
export { requirePlan } from "./plans/plan.ts";
export { askedQuestions, planOf } from "./plans/question.ts";
export { answerAdvice } from "./plans/question-text.ts";
export {
  addUpChildren,
  countLiveChildren,
  findLink,
  hasLiveChild,
  listChildSessions,
  listLinks,
  listNewestLinks,
} from "./queries.ts";
export type { LinkRow } from "./schema.ts";
export {
  forwardMessages,
  NO_MESSAGES,
  readMessages,
  readTextPiece,
  textPieceInput,
} from "./transcript.ts";
export { beginWait } from "./waits/wait.ts";
export { findCompletionOf } from "./waits/wait-queries.ts";
