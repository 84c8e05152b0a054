export { emailTaken, userView } from "./account.ts";
export { deleteAccountsOf } from "./account-queries.ts";
export { type Auth, createAuth } from "./auth.ts";
export type { Desk } from "./issue.ts";
export { hashPassword, refuseWeakPassword } from "./passwords.ts";
export { createProviderSignIn } from "./provider-sign-in.ts";
export type { Admit } from "./providers/enter.ts";
export {
  deletePassword,
  findOrg,
  findUser,
  findUserByEmail,
  insertUser,
  isHere,
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
export { revokeTokensForEverybody } from "./runner-tokens.ts";
export { authMigrations, type PersonRow } from "./schema.ts";
export { hashSecret, mintSecret } from "./secrets.ts";
export { browserOf, type Opened, openBrowser, type Visit } from "./sign-in.ts";
export type { UserPrincipal } from "./user-principal.ts";
export { hasWayIn } from "./ways-in.ts";
