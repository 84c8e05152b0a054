import type { InspectedLink } from "#features/auth/contract.ts";

/**
 * True when the person has to agree before a sign-in link is used: it may have been sent by somebody
 * else, or it would put another person in the place of who is signed in.
 */
export function mustAsk({ user, current, needsConsent }: InspectedLink): boolean {
  return needsConsent || (current !== null && current.id !== user.id);
}
