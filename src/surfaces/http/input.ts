/** Checks of paths and fields that schemas leave open, and the refusal of an invalid request. */
import type * as z from "zod";
import { Refusal } from "#base/refusal.ts";
import { findUnstorable, isStorable } from "#base/text/clean-text.ts";
import { UNSTORABLE } from "#base/text/text-schemas.ts";

/**
 * Refuses text that no database stores: in queries, and in programs' tool calls. A schema for prose has
 * cleaned it before, so this concerns ids and filters.
 */
export function requireStorable<T>(input: T): T {
  const found = findUnstorable(input);
  if (!found) return input;
  const path = found.join(".");
  throw new Refusal("invalid", "invalid_input", `${path ? `${path}: ` : ""}${UNSTORABLE}`, {
    details: [{ path, message: UNSTORABLE }],
  });
}

const ID = /^[A-Za-z0-9_:.@-]{1,200}$/;

/** Checks an id in a path. A malformed one is not found, like any other unknown id. */
export function requireId(id: string | undefined, what: string): string {
  if (id === undefined || !ID.test(id))
    throw new Refusal(
      "not_found",
      "not_found",
      `No such ${what}. Check the id, or list what you can see.`,
    );
  return id;
}

const MAX_NAME_CHARS = 200;

/** Checks a name in a path; refuses only text that no database could store. */
export function requireName(name: string | undefined): string {
  if (name !== undefined && name.length <= MAX_NAME_CHARS && isStorable(name)) return name;
  throw new Refusal(
    "invalid",
    "invalid_name",
    `A name has at most ${MAX_NAME_CHARS} characters, without NUL characters and broken Unicode.`,
  );
}

export function refuseInvalid(error: z.ZodError): never {
  const details = error.issues
    .slice(0, 20)
    .map((issue) => ({ path: issue.path.join("."), message: issue.message }));
  const unknown = error.issues.find((issue) => issue.code === "unrecognized_keys");
  const [first] = details;
  const where = first
    ? `${first.path ? `${first.path}: ` : ""}${first.message}`
    : "The request is not valid.";
  throw new Refusal(
    "invalid",
    unknown ? "unknown_field" : "invalid_input",
    unknown ? `${where}. Remove it, or check its spelling.` : where,
    { details },
  );
}
