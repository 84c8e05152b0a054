export { emailTaken, userView } from "./account.ts";
export { deleteAccountsOf } from "./account-queries.ts";
export { type Auth, createAuth } from "./auth.ts";
export type { AuthContext } from "./credentials/issue.ts";
export { revokeTokensForEverybody } from "./credentials/runner-tokens.ts";
export { hashSecret, mintSecret } from "./credentials/secrets.ts";
export type { UserPrincipal } from "./credentials/user-principal.ts";
export type { AdmitMember } from "./providers/apply-identity.ts";
export {
  deletePassword,
  findOrg,
  findUser,
  findUserByEmail,
  insertUser,
  isActiveMember,
  listCredentials,
  listMembers,
  listRemoved,
  lockOrg,
  lockUser,
  revokeKinds,
  saveOrg,
  savePassword,
  saveUser,
} from "./queries.ts";
export { authMigrations, type PersonRow } from "./schema.ts";
export { hashPassword, refuseWeakPassword } from "./sign-in/passwords.ts";
export { createProviderSignIn } from "./sign-in/provider-sign-in.ts";
export { browserOf, type OpenedBrowser, openBrowser, type Visit } from "./sign-in/sign-in.ts";
export { hasWayIn } from "./sign-in/ways-in.ts";
