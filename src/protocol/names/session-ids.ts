/**
 * Session ids that can be computed without a query, and the aliases that callers may write for
 * them.
 */

export const ORCHESTRATOR = "orchestrator";

/** Id of a person's orchestrator, the same through all its incarnations. */
export function orchestratorId(userId: string): string {
  return `${ORCHESTRATOR}:${userId}`;
}

/** Form of the id with a suffix for every incarnation of an orchestrator. */
const ROTATED = /^orchestrator:(?!org:)([^:]+):.+$/;
/** `{channel}:{userId}`: a person's conversation in a channel, which is with their orchestrator. */
const IN_CHANNEL = /^(?:web|cli|api|slack|github|telegram|linear|email):(usr_[^:]+)$/;

/**
 * Resolves the session id that a caller means. `orchestrator` is the caller's own; a caller that is
 * no person has none. Grants no permission.
 */
export function resolveSessionId(given: string, userId: string | null): string {
  if (given === ORCHESTRATOR && userId !== null) return orchestratorId(userId);
  const owner = (ROTATED.exec(given) ?? IN_CHANNEL.exec(given))?.[1];
  return owner === undefined ? given : orchestratorId(owner);
}
