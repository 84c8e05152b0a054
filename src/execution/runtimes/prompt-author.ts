/**
 * Names the author of a prompt in words before it. Models see every prompt in the place of the
 * person, so what Muster or another agent sends must never look like the person's own words. These
 * lines are made from the server's record of the author; the text of the prompt changes nothing.
 */
import type { Assignment } from "#protocol/frames.ts";
import type { Author } from "#protocol/sessions.ts";

export type SessionRelations = Pick<Assignment, "ownerId" | "parentSessionId">;

/** Adds the author; the text is the same while a prompt is new and when it is read again later. */
export function withAuthor(text: string, author: Author, relations: SessionRelations): string {
  const from = authorWords(author, relations);
  return from === null ? text : `[from ${from}]\n${text}`;
}

/** Words for the author; null for the session's own person. */
export function authorWords(
  { kind, id, name }: Author,
  { ownerId, parentSessionId }: SessionRelations,
): string | null {
  if (kind === "system") return "Muster";
  if (kind === "user") return id === ownerId ? null : `another person, ${oneLine(name)}`;
  const which = id === parentSessionId ? "your parent session" : "session";
  return `${which} ${oneLine(name)} (${id})`;
}

/** Agents and people choose names: a name must not be able to end its line. */
function oneLine(name: string): string {
  return JSON.stringify(name.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " "));
}
