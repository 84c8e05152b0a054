/** Whom one can write to, found by what was typed so far. Pure. */
import type { Agent } from "#features/orchestrators/contract.ts";
import type { Member } from "#features/orgs/contract.ts";
import type { Session } from "#protocol/sessions.ts";

export interface Recipient {
  /** As the server takes it. */
  to: string;
  kind: "person" | "agent" | "session";
  name: string;
  /** What tells it from others of the same name. */
  note: string;
}

interface Everybody {
  myId: string;
  members: readonly Member[];
  agents: readonly Agent[];
  sessions: readonly Session[];
}

/** Its own orchestrator first, then people, then agents, then sessions. */
export function recipientsOf({ myId, members, agents, sessions }: Everybody): Recipient[] {
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

/** Orchestrators are there by their handle already; what has ended reads nothing. */
function isReachable({ isOrchestrator, lifecycle }: Session): boolean {
  return !isOrchestrator && (lifecycle === "active" || lifecycle === "hibernated");
}

const OFFERED = 8;

/** Every word must stand somewhere in the name, the note or the id. */
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
