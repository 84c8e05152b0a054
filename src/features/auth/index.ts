export { emailTaken, userView } from "./account.ts";
export { type Auth, createAuth } from "./auth.ts";
export { hashPassword, refuseWeakPassword } from "./passwords.ts";
export {
  deletePassword,
  findOrg,
  findUser,
  findUserByEmail,
  insertUser,
  isHere,
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
export { hashSecret, mintSecret } from "./secrets.ts";
export { type Opened, openBrowser } from "./sign-in.ts";
export type { UserPrincipal } from "./user-principal.ts";
