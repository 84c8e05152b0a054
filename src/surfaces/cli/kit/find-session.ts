/** Resolves a session by its id, by the end of its id as the tree shows it, or by its title. */
import { Refusal } from "#base/refusal.ts";
import { ORCHESTRATOR } from "#protocol/names/session-ids.ts";
import type { Session } from "#protocol/sessions.ts";
import type { Api } from "../client/api.ts";
import { safeLine, shorten } from "./text/terminal.ts";

/** Help text of an argument that names a session. */
export const SESSION_ARGUMENT = "the session: its id, the end of its id, or its title";

const WHOLE_ID = /^ses_[0-9a-z]{26}$/;
const SHORT_CHARS = 6;
const NAMED = 5;

/** Ids begin with the time, so two differ at the end. */
export function shortId(id: string): string {
  return id.slice(-SHORT_CHARS);
}

export async function findSessionId(api: Api, given: string): Promise<string> {
  if (WHOLE_ID.test(given) || given === ORCHESTRATOR || given.startsWith(`${ORCHESTRATOR}:`))
    return given;
  const query = { lifecycle: "active,hibernated" };
  const sessions = await api.listAll(api.sessions.list, { query });
  // The list leaves out archived sessions, and other people's that were opened.
  const isUnlisted = given.startsWith("ses_") && !sessions.some(({ id }) => id.startsWith(given));
  return isUnlisted ? given : pickSession(sessions, given).id;
}

/** Reads the caller's orchestrator; creates or restarts it if none could respond. */
export async function ensureOrchestrator(api: Api): Promise<Session> {
  const { session, needsRestart } = await api.orchestrators.get();
  if (session !== null && !needsRestart) return session;
  return (await api.again.orchestrators.create()).session;
}

/** Picks the most exact kind of match, which must be unique. */
export function pickSession<S extends Pick<Session, "id" | "title">>(
  sessions: readonly S[],
  given: string,
): S {
  const wanted = given.trim().toLowerCase();
  const titleOf = ({ title }: S) => (title ?? "").toLowerCase();
  const kinds: ((session: S) => boolean)[] = [
    ({ id }) => id === wanted,
    (session) => titleOf(session) === wanted,
    ({ id }) => wanted.length >= SHORT_CHARS && (id.endsWith(wanted) || id.startsWith(wanted)),
    (session) => titleOf(session).startsWith(wanted),
  ];
  for (const isMeant of wanted === "" ? [] : kinds) {
    const found = sessions.filter(isMeant);
    if (found.length === 1) return found[0] as S;
    if (found.length > 1)
      throw new Refusal("conflict", "session_ambiguous", describeMatches(given, found));
  }
  throw new Refusal(
    "not_found",
    "not_found",
    `No session matches ${JSON.stringify(shorten(safeLine(given), 100))}. List sessions with: muster sessions tree`,
  );
}

function describeMatches(given: string, found: readonly Pick<Session, "id" | "title">[]): string {
  const named = found
    .slice(0, NAMED)
    .map(({ id, title }) => `${shorten(safeLine(title ?? "untitled"), 60)} (${id})`);
  const more = found.length > NAMED ? ` and ${found.length - NAMED} more` : "";
  return `${JSON.stringify(shorten(safeLine(given), 100))} matches ${named.join(", ")}${more}. Use the id.`;
}
