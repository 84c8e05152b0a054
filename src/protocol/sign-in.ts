/**
 * Reasons why signing in through an outside service failed: the code that the server puts into the
 * address it sends a browser back to, and the sentence that the page shows for it. Pages show these
 * sentences alone, so that nobody can put words on them through an address.
 */
export const SIGN_IN_PROBLEMS = {
  sign_in_expired:
    "This sign-in took too long, was already used, or started in another browser. Start again here.",
  sign_in_cancelled: "The sign-in was not granted there. Start again, or use another way.",
  sign_in_locked: "Too many sign-ins have failed. Wait a quarter of an hour, then start again.",
  sign_in_needed: "You were signed out in the meantime. Sign in, then link the account again.",
  sign_in_failed: "Signing in did not work. Start again; if the problem stays, tell an admin.",
  provider_unavailable:
    "The sign-in service did not answer as expected. Try again in a moment; if the problem stays, an admin finds the reason in the server's log.",
  identity_not_confirmed:
    "The sign-in service did not confirm your identity. Start again; if the problem stays, an admin finds the reason in the server's log.",
  account_unknown:
    "Nobody here uses this account. Ask an admin for an invitation; if you are a member, sign in another way and link it in the settings.",
  account_taken:
    "Somebody here already uses this account. Sign in with it, or use another account.",
  account_limit_reached: "You have linked the maximum number of accounts. Unlink one first.",
  invitation_not_valid: "This invitation is not valid or has expired. Ask an admin for a new one.",
  email_not_invited:
    "This invitation is for another e-mail address, or the sign-in service has not verified yours. Join with a password, or ask for an invitation without an address.",
  email_taken:
    "Somebody already has your e-mail address. If it is you, sign in another way and link the account in the settings.",
} as const satisfies Record<string, string>;

export type SignInProblem = keyof typeof SIGN_IN_PROBLEMS;

export function isSignInProblem(code: string): code is SignInProblem {
  return Object.hasOwn(SIGN_IN_PROBLEMS, code);
}
