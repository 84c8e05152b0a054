/** Builds principals of people from the server's own rows. */
import type { CredentialRow, Principal, UserRow } from "#engine/index.ts";

export type UserPrincipal = Extract<Principal, { kind: "user" }>;

export function userPrincipal(user: UserRow, credential: CredentialRow): UserPrincipal {
  return {
    kind: "user",
    orgId: user.org_id,
    userId: user.id,
    name: user.name,
    role: user.role,
    scopes: credential.scopes.split(" "),
    channel: credential.kind === "cookie" ? "web" : "api",
  };
}
