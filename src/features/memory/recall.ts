/**
 * Reminds an orchestrator at the start of a turn of memories that match its prompt, as many as fit. An
 * offered memory does not count as read, so nothing changes.
 */

import type { Reader } from "#base/store/index.ts";
import type { PromptRow, SessionRow } from "#engine/index.ts";
import { isGuestTurn } from "#protocol/notices/guests.ts";
import { isOrchestrator } from "#protocol/sessions.ts";
import { findScope } from "./queries.ts";
import { searchMemories } from "./ranking/search.ts";
import { significantTerms, termsOf } from "./ranking/tokenize.ts";
import type { MemoryRow } from "./schema.ts";
import { scopeOf } from "./scope.ts";

const MAX_TOKENS = 800;
const MAX_RECALLED = 8;
/** Minimum share of the best score: less relevant memories would only distract. */
const SHARE_OF_BEST = 0.35;
/** Maximum of prompt characters to search by: the beginning of a long prompt names its topic. */
const MAX_PROMPT_CHARS = 8_000;
const MAX_SHOWN_CHARS = 600;

export async function recall(
  reader: Reader,
  session: SessionRow,
  prompt: Pick<PromptRow, "content" | "thread" | "is_guest">,
): Promise<string[]> {
  if (!isOrchestrator(session)) return [];
  // A guest's words must not bring up memories of the agent's owner.
  if (isGuestTurn(prompt.thread, prompt)) return [];
  const terms = significantTerms(termsOf(prompt.content.slice(0, MAX_PROMPT_CHARS)));
  const scope = terms.length > 0 ? await findScope(reader, scopeOf(session)) : undefined;
  if (!scope || scope.memories === 0) return [];
  const found = await searchMemories(reader, [scope], terms, { limit: MAX_RECALLED });
  const least = (found[0]?.score ?? 0) * SHARE_OF_BEST;
  return fitting(
    found.filter(({ score }) => score >= least).map(({ row }) => lineOf(row)),
    MAX_TOKENS,
  );
}

/** Keeps the lines that fit, best first; a line that is too long leaves room for a shorter one. */
export function fitting(lines: readonly string[], maxTokens: number): string[] {
  let left = maxTokens;
  return lines.filter((line) => {
    const tokens = tokensOf(line);
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
}

/**
 * Estimates tokens: four characters of plain English make one,
 * as does one character of most other scripts.
 */
export function tokensOf(text: string): number {
  const foreign = text.match(/[^\p{ASCII}]/gu)?.length ?? 0;
  return Math.ceil((text.length - foreign) / 4) + foreign;
}

/** Renders a memory on one line, so that it cannot look like anything else. */
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
