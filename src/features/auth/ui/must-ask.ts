import type { InspectedLink } from "#features/auth/contract.ts";

/**
 * True when the person has to agree before a sign-in link is used: somebody else may have sent it, or it
 * would replace the person who is signed in.
 */
export function mustAsk({ user, current, needsConsent }: InspectedLink): boolean {
  return needsConsent || (current !== null && current.id !== user.id);
}
