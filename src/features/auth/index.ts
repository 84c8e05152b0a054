export { type Auth, createAuth, type UserPrincipal } from "./auth.ts";
