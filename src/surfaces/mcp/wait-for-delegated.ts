/**
 * A turn may end by waiting (`endedWaitingFor` of its prompt): it has delegated its work, and a later turn,
 * started by notices about the children, brings its reply. Everything is read from rows, so a caller finds it
 * long afterwards, too.
 */
import type { Prompt, Session } from "#protocol/sessions.ts";
import type { PersonCall } from "./person-tool.ts";
import { readAndWait } from "./wait-for-prompt.ts";

const PAGE = 100;
/** Pages of the record to search. */
const MAX_PAGES = 10;
const RELEVANT_EVENTS: ReadonlySet<string> = new Set([
  "prompt_accepted",
  "prompt_settled",
  "session_updated",
  "session_stop",
]);
const BUSY = ["working", "needs_you", "waiting", "recovering"] as const;
const isBusy = ({ activity }: Session) => (BUSY as readonly string[]).includes(activity);
const NAMED = 5;

/** `children`: sessions still at work for it. Null: nothing more comes. */
export type NextStep = { prompt: Prompt } | { children: Session[] } | null;

/** Returns the turn that continues where this one waited; waits for it as long as there is time. */
export async function waitForNext(
  call: PersonCall,
  after: Prompt,
  timeoutMs: number,
): Promise<NextStep> {
  const { parts, person, signal, progress } = call;
  let reported = "";
  const look = async (): Promise<NextStep> => {
    const prompt = await findWake(call, after);
    if (prompt) return { prompt };
    const session = await parts.kernel.sessions.get(person, after.sessionId);
    const children = await listBusyChildren(call, after.sessionId);
    // Children that are all idle report nothing by themselves: the text so far is the reply.
    const isAtWork = isBusy(session) && session.waitingFor?.kind !== "children";
    if (!isAtWork && children.length === 0) return null;
    const words = `waiting for ${namesOf(children)}`;
    if (words !== reported) progress(words);
    reported = words;
    return { children };
  };
  const until = parts.clock.now() + timeoutMs;
  for (;;) {
    let seen: NextStep = null;
    const found = await readAndWait<{ next: NextStep }>(parts, person, after.sessionId, {
      timeoutMs: Math.max(0, until - parts.clock.now()),
      signal,
      isRelevant: ({ type }) => RELEVANT_EVENTS.has(type),
      async look() {
        seen = await look();
        return seen && "children" in seen ? undefined : { next: seen };
      },
    });
    if (found) return found.next;
    if (signal.aborted || parts.clock.now() >= until) return seen;
  }
}

/** Finds the first wake of its conversation since then. */
async function findWake(
  { parts, person }: PersonCall,
  { id, sessionId, thread, startedAt, acceptedAt }: Prompt,
): Promise<Prompt | undefined> {
  const since = startedAt ?? acceptedAt;
  let cursor: string | undefined;
  let found: Prompt | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { items, next } = await parts.kernel.prompts.list(person, sessionId, {
      limit: PAGE,
      cursor,
    });
    for (const prompt of items) {
      if (prompt.acceptedAt < since) return found;
      if (prompt.id !== id && prompt.thread === thread && isWake(prompt)) found = prompt;
    }
    if (next === null) return found;
    cursor = next;
  }
  return found;
}

/** True for a prompt that notifies a parent about its children. */
function isWake({ notice, outcome }: Prompt): boolean {
  return notice?.kind === "children" && outcome !== "withdrawn";
}

async function listBusyChildren({ parts, person }: PersonCall, parent: string): Promise<Session[]> {
  const { items } = await parts.kernel.sessions.list(person, {
    parent,
    status: BUSY,
    lifecycle: ["active", "hibernated"],
    limit: PAGE,
  });
  return items;
}

export function namesOf(children: readonly Session[]): string {
  if (children.length === 0) return "what comes next";
  const names = children.slice(0, NAMED).map(({ title, id }) => title ?? id);
  const more = children.length > NAMED ? `, and ${children.length - NAMED} more` : "";
  return `${children.length === 1 ? "1 child" : `${children.length} children`}: ${names.join(", ")}${more}`;
}
