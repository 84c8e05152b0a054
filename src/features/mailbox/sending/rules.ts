/**
 * Permission to write, from the server's rows alone; pure. A sender is told of an unreachable
 * recipient only that nobody has that name.
 */

import { orchestratorId } from "#protocol/names/session-ids.ts";
import type { AgentRole } from "#protocol/tools.ts";

export type SenderFacts =
  | { kind: "user"; id: string }
  | {
      kind: "session";
      id: string;
      ownerId: string | null;
      role: AgentRole;
      parentId: string | null;
      /** True if the parent is an orchestrator, whose children may write to each other. */
      hasOrchestrator: boolean;
    };

export type RecipientFacts =
  | { kind: "user"; id: string }
  | {
      kind: "session";
      id: string;
      ownerId: string | null;
      parentId: string | null;
      isOrchestrator: boolean;
    };

/** `consent`: allowed only if the owner of the agent accepts mail from other people's agents. */
export type Reach = "free" | "consent" | "none";

export function reachOf(from: SenderFacts, to: RecipientFacts): Reach {
  if (from.kind === "user") return to.kind === "user" ? "free" : fromPerson(from.id, to);
  return to.kind === "user" ? toPerson(from, to.id) : betweenSessions(from, to);
}

type Session<T> = Extract<T, { kind: "session" }>;

function fromPerson(userId: string, to: Session<RecipientFacts>): Reach {
  if (to.ownerId === userId) return "free";
  return toForeignAgent(to);
}

/** Everybody may write to the organisation's orchestrator. */
function toForeignAgent({ isOrchestrator, ownerId }: Session<RecipientFacts>): Reach {
  if (!isOrchestrator) return "none";
  return ownerId === null ? "free" : "consent";
}

function toPerson({ role, ownerId }: Session<SenderFacts>, userId: string): Reach {
  if (role === "orchestrator" || role === "org_orchestrator") return "free";
  return userId === ownerId ? "free" : "none";
}

function betweenSessions(from: Session<SenderFacts>, to: Session<RecipientFacts>): Reach {
  const isFamily = to.id === from.parentId || to.parentId === from.id;
  if (isFamily) return "free";
  switch (from.role) {
    case "orchestrator":
      return from.ownerId !== null && to.ownerId === from.ownerId ? "free" : toForeignAgent(to);
    case "org_orchestrator":
      return toForeignAgent(to);
    case "child":
      return from.hasOrchestrator && to.parentId === from.parentId ? "free" : "none";
    default:
      return isOwnOrchestrator(from, to) ? "free" : "none";
  }
}

function isOwnOrchestrator(
  { ownerId }: Session<SenderFacts>,
  to: Session<RecipientFacts>,
): boolean {
  return ownerId !== null && to.id === orchestratorId(ownerId) && to.ownerId === ownerId;
}

export interface Consent {
  rule: "none" | "org" | "list";
  /** True if the sender is the organisation's own agent. */
  isFromOrg: boolean;
  isListed: boolean;
}

export function acceptsMail({ rule, isFromOrg, isListed }: Consent): boolean {
  if (rule === "none") return false;
  return rule === "org" || isFromOrg || isListed;
}
