/** Caller of an organisation's routes. */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Principal } from "#engine/index.ts";
import type { UserPrincipal } from "#features/auth/index.ts";

/** Returns a person of the organisation in the path; any other organisation counts as not found. */
export function personOf(principal: Principal, params: { readonly orgId: string }): UserPrincipal {
  if (principal.kind !== "user")
    throw new Refusal("forbidden", "forbidden", "Only a person may do this. Use a person's key.");
  if (principal.orgId !== params.orgId) throw notFound("org");
  return principal;
}
