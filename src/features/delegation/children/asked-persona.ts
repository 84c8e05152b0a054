/**
 * Checks that a person asked for the persona that an agent gives its child. The agent's claim is
 * not enough: the owner must have named the persona in a recent prompt of the thread.
 */
import type { Reader } from "#base/store/index.ts";
import type { SessionRow } from "#engine/index.ts";
import { entryView, listEntries } from "#engine/sessions/index.ts";

const LOOK_BACK = 30;

export async function isPersonaNamed(
  reader: Reader,
  { id: sessionId, owner_id }: Pick<SessionRow, "id" | "owner_id">,
  thread: string,
  slug: string,
): Promise<boolean> {
  const prompts = await listEntries(reader, {
    sessionId,
    thread,
    kinds: ["prompt"],
    limit: LOOK_BACK,
  });
  return prompts
    .map(entryView)
    .some(
      ({ author, text }) =>
        author?.kind === "user" && author.id === owner_id && mentions(text ?? "", slug),
    );
}

/**
 * Matches the slug, or the words that it was made of. Quoted lines are ignored, since somebody else
 * wrote them.
 */
export function mentions(text: string, slug: string): boolean {
  const own = text
    .split("\n")
    .filter((line) => !line.trimStart().startsWith(">"))
    .join("\n");
  return dashed(own).includes(dashed(slug));
}

function dashed(text: string): string {
  return `-${text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-")}-`.replaceAll(/-+/g, "-");
}
