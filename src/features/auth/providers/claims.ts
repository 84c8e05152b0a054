/** Turns claims of providers into names and addresses that we store. */
import { emailSchema, personNameSchema } from "../contract.ts";

/** Reduces a name to one short line; undefined when nothing is left. */
export function plainName(said: string | null | undefined): string | undefined {
  const text = (said ?? "").replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, " ");
  return personNameSchema.safeParse([...text.trim()].slice(0, 50).join("")).data;
}

export function verifiedEmail(said: unknown): string | undefined {
  return emailSchema.safeParse(said).data;
}
