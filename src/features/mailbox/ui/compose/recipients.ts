/** Possible recipients, filtered by the typed text. Pure. */
import type { Agent } from "#features/orchestrators/contract.ts";
import type { Member } from "#features/orgs/contract.ts";
import type { Session } from "#protocol/sessions.ts";

export interface Recipient {
  /** Recipient address in the server's format. */
  to: string;
  kind: "person" | "agent" | "session";
  name: string;
  /** Distinguishes recipients of the same name. */
  note: string;
}

interface RecipientSources {
  myId: string;
  members: readonly Member[];
  agents: readonly Agent[];
  sessions: readonly Session[];
}

/** Sorts the reader's own orchestrator first, then people, agents and sessions. */
export function recipientsOf({ myId, members, agents, sessions }: RecipientSources): Recipient[] {
  const nameOf = new Map(members.map((member) => [member.userId, member.name]));
  const own = agents.filter(({ userId }) => userId === myId);
  const others = agents.filter(({ userId }) => userId !== myId);
  const agent = (one: Agent, note: string): Recipient => ({
    to: `@${one.handle}`,
    kind: "agent",
    name: one.name,
    note: `@${one.handle} · ${note}`,
  });
  return [
    ...own.map((one) => agent(one, "your orchestrator")),
    ...members
      .filter(({ userId, state }) => userId !== myId && state === "here")
      .map(
        ({ userId, name, email }): Recipient => ({
          to: userId,
          kind: "person",
          name,
          note: email ?? "Member",
        }),
      ),
    ...others.map((one) => agent(one, `agent of ${nameOf.get(one.userId) ?? "the organisation"}`)),
    ...sessions.filter(isReachable).map(
      ({ id, title }): Recipient => ({
        to: id,
        kind: "session",
        name: title ?? id,
        note: "your session",
      }),
    ),
  ];
}

/** True for sessions that can read messages. Orchestrators are listed by their handle already. */
function isReachable({ isOrchestrator, lifecycle }: Session): boolean {
  return !isOrchestrator && (lifecycle === "active" || lifecycle === "hibernated");
}

const OFFERED = 8;

/** Returns recipients whose name, note or id contains every typed word. */
export function matching(recipients: readonly Recipient[], typed: string): Recipient[] {
  const words = typed
    .toLowerCase()
    .replace(/^@user:/, "")
    .split(/\s+/)
    .filter(Boolean);
  const found = recipients.filter(({ name, note, to }) => {
    const text = `${name} ${note} ${to}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const [first] = words;
  const begins = ({ name }: Recipient) =>
    first !== undefined && name.toLowerCase().startsWith(first);
  return [...found.filter(begins), ...found.filter((one) => !begins(one))].slice(0, OFFERED);
}
