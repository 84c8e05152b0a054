/**
 * Derives the secrets of a sign-in from the one that the browser holds, so that the database has none of
 * them: whoever reads its rows can finish nobody's sign-in.
 */
import { hash } from "node:crypto";

export const verifierOf = (browserSecret: string) =>
  hash("sha256", `pkce ${browserSecret}`, "base64url");

export const nonceOf = (browserSecret: string) =>
  hash("sha256", `nonce ${browserSecret}`, "base64url");

/** PKCE's S256. */
export const challengeOf = (verifier: string) => hash("sha256", verifier, "base64url");
