/** Views of orchestrators for people. */
import type { SessionRow } from "#engine/index.ts";
import { describeSession, isoTime, type ReadContext } from "#engine/sessions/index.ts";
import type { Session } from "#protocol/sessions.ts";
import type { Agent, Identity, Recovery } from "./contract.ts";
import { planRestart } from "./running/restart-policy.ts";
import type { IdentityRow } from "./schema.ts";

export function agentView({ user_id, name, handle, avatar }: IdentityRow): Agent {
  return { userId: user_id, name, handle, avatar };
}

export function identityView(row: IdentityRow): Identity {
  return {
    ...agentView(row),
    id: row.user_id,
    type: "personal",
    style: row.style,
    customInstructions: row.custom_instructions,
    acceptsAgentMail: row.accepts_agent_mail,
    createdAt: isoTime(row.created_at),
    updatedAt: isoTime(row.updated_at),
  };
}

export function isHealthy(session: Pick<SessionRow, "lifecycle"> | undefined): boolean {
  return session?.lifecycle === "active" || session?.lifecycle === "hibernated";
}

export function recoveryView(
  { restarts, stopped_at }: IdentityRow,
  session: SessionRow | undefined,
  now: number,
): Recovery | null {
  if (!session || isHealthy(session)) return null;
  // Its owner archived it, and is the one to restore it.
  if (session.lifecycle === "archived") return { state: "stopped", nextAttemptAt: null };
  const deadSince = session.archived_at ?? now;
  const past = { deadSince, restarts: JSON.parse(restarts) as number[], stoppedAt: stopped_at };
  const { state, dueAt } = planRestart(past, now);
  return { state, nextAttemptAt: dueAt === null ? null : isoTime(dueAt) };
}

export async function orchestratorView(
  context: ReadContext,
  identity: IdentityRow | undefined,
  session: SessionRow | undefined,
) {
  return {
    session: session ? await describeSession(context, session) : null,
    identity: identity ? identityView(identity) : null,
    needsRestart: identity !== undefined && !isHealthy(session),
    recovery: identity ? recoveryView(identity, session, context.now) : null,
  };
}

/** An admin's view: state and cost, without transcript content and custom instructions. */
export async function overseenView(
  context: ReadContext,
  identity: IdentityRow,
  session: SessionRow | undefined,
) {
  const { customInstructions: _theirs, ...shown } = identityView(identity);
  const whole = await orchestratorView(context, identity, session);
  return { ...whole, identity: shown, session: whole.session && stateOf(whole.session) };
}

function stateOf(session: Session) {
  const { id, lifecycle, activity, status, incarnation, model, cost, updatedAt } = session;
  return { id, lifecycle, activity, status, incarnation, model, cost, updatedAt };
}
