/**
 * Creates a child of a parent. Omitted settings come from the parent, and the budget is reserved
 * from the parent's. All of it is one transaction, so a refusal leaves nothing behind.
 */
import { Refusal } from "#base/refusal.ts";
import type { Principal, SessionRow, SessionWriter, Work } from "#engine/index.ts";
import { requireModelAvailable, requireRuntimeAvailable } from "#engine/runs/index.ts";
import { createSession, newSession, type SessionRequest } from "#engine/sessions/index.ts";
import { MAIN_THREAD } from "#protocol/sessions.ts";
import { admitAgentPrompt } from "../notify/admit-agent-prompt.ts";
import { findLink, saveLink } from "../queries.ts";
import { isPersonaNamed } from "./asked-persona.ts";

export interface Spawned {
  child: SessionWriter;
  /** Persona of the child, and the reason for the choice in words for its parent. */
  persona: { persona: string | null; personaReason: string | null };
}

const PERSONA_REASONS: ReadonlyMap<string | undefined, string> = new Map([
  ["asked", "Your person asked for it."],
  ["repository", "It is the repository's default, which comes before your own choice."],
  ["agent", "You chose it."],
  ["organisation", "It is the organisation's default."],
]);

export interface SpawnRequest extends Omit<SessionRequest, "parentSessionId" | "kind" | "prompt"> {
  prompt: string;
  /** Context that the child needs; it precedes the prompt. */
  contextSummary?: string | undefined;
}

/** `thread`: thread of the parent that is notified of the child. */
export async function spawnChild(
  work: Work,
  parent: SessionWriter,
  thread: string,
  { prompt, contextSummary, ...request }: SpawnRequest,
): Promise<Spawned> {
  const { row } = parent;
  const principal = agentOf(row);
  const id = work.ids.mint("ses");
  const { personaSlug } = request;
  const isPersonaAsked =
    personaSlug !== undefined && (await isPersonaNamed(work.tx, row, thread, personaSlug));
  const sessionDraft = await newSession(
    work,
    principal,
    id,
    { ...request, isPersonaAsked, parentSessionId: row.id },
    work.defaults,
  );
  await requirePossible(work, principal, prompt, request);
  const child = await createSession(work, sessionDraft);
  await rememberOrigin(work, child.row.id, thread, contextSummary !== undefined);
  const content = briefText(prompt, contextSummary);
  await admitAgentPrompt(work, row, child, { content, thread: MAIN_THREAD, mode: undefined });
  const { chosenPersona } = sessionDraft.requested;
  const personaReason = PERSONA_REASONS.get(chosenPersona?.source) ?? null;
  return { child, persona: { persona: chosenPersona?.slug ?? null, personaReason } };
}

/** Refuses requests that would only fail later in the child. */
async function requirePossible(
  work: Work,
  principal: Principal,
  prompt: string,
  { model, runtime }: Pick<SpawnRequest, "model" | "runtime">,
): Promise<void> {
  if (prompt.trim() === "")
    throw new Refusal("invalid", "prompt_empty", "The prompt is empty. Say what to do.");
  if (model !== undefined) await requireModelAvailable(work.tx, principal, model);
  if (runtime !== undefined) await requireRuntimeAvailable(work.tx, principal, runtime);
}

export function agentOf(row: SessionRow): Extract<Principal, { kind: "session" }> {
  return {
    kind: "session",
    orgId: row.org_id,
    sessionId: row.id,
    ownerId: row.owner_id,
    name: row.title ?? row.id,
  };
}

async function rememberOrigin(
  work: Work,
  childId: string,
  thread: string,
  isHandoff: boolean,
): Promise<void> {
  const link = await findLink(work.tx, childId);
  if (!link) throw new Error(`session ${childId} was made without its link`);
  link.parent_thread = thread;
  link.handoff = isHandoff ? 1 : 0;
  await saveLink(work.tx, link);
}

function briefText(prompt: string, contextSummary: string | undefined): string {
  if (contextSummary === undefined) return prompt;
  return `[What you need to know]\n${contextSummary}\n\n[Your task]\n${prompt}`;
}
