/**
 * Delegation: parents and children, whatever the parent is. It ties them, tells parents what becomes
 * of children, and holds what a parent can do; orchestrators and supervisors give it to agents.
 */
import type { Feature } from "#engine/index.ts";
import { childTools } from "./child-tools.ts";
import { WAIT_TIMER } from "./close-wait.ts";
import { DEFAULT_LIMITS, type DelegationLimits } from "./link.ts";
import { createListener } from "./listen.ts";
import { planBrief } from "./plan.ts";
import { judgePlan } from "./plan-judge.ts";
import { planTools } from "./plan-tools.ts";
import { PURGE_TIMER, purgeDue } from "./purge-child.ts";
import { childRegister } from "./register.ts";
import { relocateTool } from "./relocate-tool.ts";
import { delegationRoutes } from "./routes.ts";
import { delegationMigrations } from "./schema.ts";
import { waitIsOver } from "./wait.ts";
import { childrenText } from "./wake-text.ts";

export function createDelegation(limits: Partial<DelegationLimits> = {}): Feature {
  return {
    name: "delegation",
    migrations: delegationMigrations,
    listeners: [createListener({ ...DEFAULT_LIMITS, ...limits })],
    timers: { [WAIT_TIMER]: waitIsOver, [PURGE_TIMER]: purgeDue },
    tools: [...childTools, ...planTools, relocateTool],
    judge: judgePlan,
    brief: async (_reader, session) => planBrief(session),
    renderNotices: { children: childrenText },
    routes: delegationRoutes,
    register: childRegister,
    sessionTables: [
      "session_links",
      "session_links.parent_session_id",
      "worker_events",
      "session_waits",
      "session_completions",
      "session_unattended",
    ],
  };
}

export { describeChild, describeChildren, findChanges } from "./children.ts";
export { clearInbox } from "./clear-inbox.ts";
export type { Child, InboxItem } from "./contract.ts";
export { detachByPerson, detachChild, endChild, interruptChild } from "./end-child.ts";
export { readInbox } from "./inbox.ts";
export { countUntold } from "./inbox-queries.ts";
export { DEFAULT_LIMITS, type DelegationLimits, requireChild, requireChildRow } from "./link.ts";
export { isGone, isLive } from "./lives.ts";
export { messageChild, type Sent } from "./message-child.ts";
export { hintInbox, note, ORCHESTRATION, type OrchestrationAction, trace } from "./note.ts";
export { askForPlan } from "./plan.ts";
export { purgeSoon } from "./purge-child.ts";
export {
  addUpChildren,
  countLiveChildren,
  findLink,
  hasLiveChild,
  listChildSessions,
  listLinks,
  listNewestLinks,
} from "./queries.ts";
export { askedOf, planOf } from "./question.ts";
export { answerAdvice } from "./question-text.ts";
export type { LinkRow } from "./schema.ts";
export { type SpawnRequest, spawnChild } from "./spawn.ts";
export { childEventOf, readUntold } from "./tell-parent.ts";
export {
  forwardMessages,
  NOTHING_SAID,
  readMessages,
  readOn,
  readOnInput,
} from "./transcript.ts";
export { isHeldBack } from "./unattended.ts";
export { beginWait } from "./wait.ts";
export { findCompletionOf } from "./wait-queries.ts";
export { wakeText } from "./wake-text.ts";
export { cutPayload, inQuotes, shareOf } from "./words.ts";
