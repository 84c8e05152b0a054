/**
 * What an orchestrator is reminded of when a turn begins: memories that have to do with what it was
 * asked, as many as fit. Being offered is not being read, so nothing changes by it.
 */

import type { Reader } from "#base/store/index.ts";
import type { PromptRow, SessionRow } from "#engine/index.ts";
import { isGuestTurn } from "#protocol/notices/guests.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import { findShelf } from "./queries.ts";
import { searchMemories } from "./ranking/search.ts";
import { tellingTerms, termsOf } from "./ranking/tokenize.ts";
import type { MemoryRow } from "./schema.ts";
import { shelfOf } from "./shelf.ts";

const MAX_TOKENS = 800;
const MAX_RECALLED = 8;
/** Of the score of the best: what has much less to do with it would only distract. */
const SHARE_OF_BEST = 0.35;
/** Of a long prompt, its beginning says what it is about. */
const MAX_ASKED_CHARS = 8_000;
const MAX_SHOWN_CHARS = 600;

export async function recall(
  reader: Reader,
  session: SessionRow,
  prompt: Pick<PromptRow, "content" | "thread" | "is_guest">,
): Promise<string[]> {
  if (!isOrchestrator(session)) return [];
  // Somebody else's words must not call up what its person told it.
  if (isGuestTurn(prompt.thread, prompt)) return [];
  const terms = tellingTerms(termsOf(prompt.content.slice(0, MAX_ASKED_CHARS)));
  const shelf = terms.length > 0 ? await findShelf(reader, shelfOf(session)) : undefined;
  if (!shelf || shelf.memories === 0) return [];
  const found = await searchMemories(reader, [shelf], terms, { limit: MAX_RECALLED });
  const least = (found[0]?.score ?? 0) * SHARE_OF_BEST;
  return fitting(
    found.filter(({ score }) => score >= least).map(({ row }) => lineOf(row)),
    MAX_TOKENS,
  );
}

/** Those that fit, best first; one that is too long leaves room for a shorter one. */
export function fitting(lines: readonly string[], maxTokens: number): string[] {
  let left = maxTokens;
  return lines.filter((line) => {
    const tokens = tokensOf(line);
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
}

/** About what models count: four letters of plain English, and one of most other scripts. */
export function tokensOf(text: string): number {
  const foreign = text.match(/[^\p{ASCII}]/gu)?.length ?? 0;
  return Math.ceil((text.length - foreign) / 4) + foreign;
}

/** One line each, so that no memory can look like anything else. */
function lineOf({ id, category, title, content, updated_at }: MemoryRow): string {
  const text = oneLine(title === null ? content : `${title}: ${content}`);
  const shown =
    text.length > MAX_SHOWN_CHARS
      ? `${text.slice(0, MAX_SHOWN_CHARS).toWellFormed()} … (cut)`
      : text;
  const day = new Date(updated_at).toISOString().slice(0, 10);
  return `[${oneLine(category)}] ${shown} (${id}, ${day})`;
}

const oneLine = (text: string) => text.replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, " ").trim();
