/** Refusals on the way through a provider; the protocol has a sentence for each. */
import { Refusal, type RefusalKind } from "#base/refusal.ts";
import { SIGN_IN_PROBLEMS, type SignInProblem } from "#protocol/sign-in.ts";

const KINDS: Partial<Record<SignInProblem, RefusalKind>> = {
  provider_unavailable: "unavailable",
  account_taken: "conflict",
  account_limit_reached: "conflict",
};

/** `why` is for the log alone; it must contain no secret and little of what a stranger wrote. */
export function problem(code: SignInProblem, why?: string): Refusal {
  return new Refusal(KINDS[code] ?? "unauthenticated", code, SIGN_IN_PROBLEMS[code], {
    cause: why === undefined ? undefined : new Error(why),
  });
}
