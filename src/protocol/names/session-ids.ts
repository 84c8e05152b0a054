/** The ids of sessions that can be known without asking, and what callers may write instead of them. */

export const ORCHESTRATOR = "orchestrator";

/** The same through all its lives. */
export function orchestratorId(userId: string): string {
  return `${ORCHESTRATOR}:${userId}`;
}

/** A form in which every life of an orchestrator has an ending of its own. */
const ROTATED = /^orchestrator:(?!org:)([^:]+):.+$/;
/** `{channel}:{userId}`: a person's conversation in a channel, which is with their orchestrator. */
const IN_CHANNEL = /^(?:web|cli|api|slack|github|telegram|linear|email):(usr_[^:]+)$/;

/**
 * The id of the session that a caller means. `orchestrator` is their own; nobody's, if they are no
 * person. It says nothing about what they may do with it.
 */
export function sessionIdMeant(given: string, userId: string | null): string {
  if (given === ORCHESTRATOR && userId !== null) return orchestratorId(userId);
  const owner = (ROTATED.exec(given) ?? IN_CHANNEL.exec(given))?.[1];
  return owner === undefined ? given : orchestratorId(owner);
}
