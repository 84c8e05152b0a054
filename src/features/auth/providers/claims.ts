/** Turns claims of providers into names and addresses that we store. */
import { emailSchema, personNameSchema } from "../contract.ts";

/** Reduces a name to one short line; undefined when nothing is left. */
export function plainName(claim: string | null | undefined): string | undefined {
  const text = (claim ?? "").replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, " ");
  return personNameSchema.safeParse([...text.trim()].slice(0, 50).join("")).data;
}

export function verifiedEmail(claim: unknown): string | undefined {
  return emailSchema.safeParse(claim).data;
}
