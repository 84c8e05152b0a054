/**
 * Names the author of a prompt in words before it. Models see every prompt in the place of the
 * person, so what Muster or another agent sends must never look like the person's own words. These
 * lines are made from the server's record of the author; the text of the prompt changes nothing.
 */
import type { Assignment } from "#protocol/frames.ts";
import type { Author } from "#protocol/sessions.ts";

export type SessionRelations = Pick<Assignment, "ownerId" | "parentSessionId">;

/** The same text while a prompt is new and when it is read again later. */
export function withAuthor(text: string, author: Author, family: SessionRelations): string {
  const from = authorWords(author, family);
  return from === null ? text : `[from ${from}]\n${text}`;
}

/** Null for the person whose session it is. */
export function authorWords(
  { kind, id, name }: Author,
  { ownerId, parentSessionId }: SessionRelations,
): string | null {
  if (kind === "system") return "Muster";
  if (kind === "user") return id === ownerId ? null : `another person, ${oneLine(name)}`;
  const which = id === parentSessionId ? "your parent session" : "session";
  return `${which} ${oneLine(name)} (${id})`;
}

/** A name is chosen by an agent or a person: it must not be able to end the line it stands in. */
function oneLine(name: string): string {
  return JSON.stringify(name.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, " "));
}
