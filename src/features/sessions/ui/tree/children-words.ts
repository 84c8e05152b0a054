/** State of a session in a few words. Pure. */
import type { Child, ChildrenOverview } from "#features/delegation/contract.ts";
import type { Session, SessionWaitKind } from "#protocol/sessions.ts";
import { activityWord } from "#surfaces/web/kit/activity-mark.tsx";
import { plural } from "#surfaces/web/kit/text/money-words.ts";

export function hasChildren(children: ChildrenOverview): boolean {
  return children.items.length + children.more > 0;
}

const AT_WORK = new Set(["working", "needs_you", "recovering", "waiting", "unknown"]);

const WAIT_WORDS: Record<Exclude<SessionWaitKind, "children">, string> = {
  runner: "Waiting for a runner",
  quota: "Waiting for model quota",
  machine: "Waiting for its machine",
  plan: "Waiting for plan approval",
  time: "Waiting until a set time",
  budget: "Waiting for budget",
};

/** Returns undefined when the activity says it all. */
export function stateWords(
  { activity, waitingFor }: Pick<Session, "activity" | "waitingFor">,
  children: ChildrenOverview | undefined,
): string | undefined {
  if (activity === "needs_you")
    return waitingFor?.kind === "plan" ? WAIT_WORDS.plan : "Waiting for your answer";
  if (activity !== "waiting" || !waitingFor) return undefined;
  return waitingFor.kind === "children" ? childrenWords(children) : WAIT_WORDS[waitingFor.kind];
}

/** Describes the state in a list: the reason of a waiting session, otherwise the activity. */
export function listedState(session: Pick<Session, "activity" | "waitingFor">): string {
  const waits = session.activity === "waiting" ? stateWords(session, undefined) : undefined;
  return waits ?? activityWord(session.activity);
}

function childrenWords(children: ChildrenOverview | undefined): string {
  const items = children?.items ?? [];
  const asking = items.filter((child) => child.activity === "needs_you").length;
  const count = items.filter(isAtWork).length;
  const words = `Waiting for ${count === 0 ? "agents" : plural(count, "agent")}`;
  return asking === 0 ? words : `${words}, ${asking} ${asking === 1 ? "needs" : "need"} you`;
}

export function isAtWork({ activity }: Child): boolean {
  return AT_WORK.has(activity);
}
