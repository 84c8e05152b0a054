/** Secrets that name a principal: random, shown once, stored as a hash. */
import { hash, randomBytes } from "node:crypto";

export function mintSecret(
  kind: "key" | "link" | "web" | "rnr" | "inv" | "flow" | "state",
): string {
  return `mst_${kind}_${randomBytes(24).toString("base64url")}`;
}

/** The secret has 192 random bits, so a plain hash is enough: there is nothing to guess. */
export function hashSecret(secret: string): string {
  return hash("sha256", secret, "hex");
}
