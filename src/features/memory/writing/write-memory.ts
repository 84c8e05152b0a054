/**
 * Writes a memory, or replaces one about the same topic. The row, its terms and the scope's counts
 * change in one transaction, so search results match the rows.
 */
import { Refusal } from "#base/refusal.ts";
import type { Work } from "#engine/index.ts";
import { type EarlierVersion, MAX_HISTORY } from "../contract.ts";
import {
  growScope,
  insertMemory,
  lockOrCreateScope,
  type MemoryScopeKey,
  saveMemory,
} from "../queries.ts";
import { FIRST_RELEVANCE, fadesAt, renewed } from "../ranking/relevance.ts";
import { addTerms, removeTerms } from "../ranking/term-queries.ts";
import { findSameTopic, sizesOf, type TextTerms, termRows, termsOfText } from "../ranking/topic.ts";
import { hintMemory, recordMemoryAction } from "../record-action.ts";
import type { MemoryRow, MemoryScopeRow } from "../schema.ts";
import { MAX_PINNED } from "../scope.ts";
import { pruneToCap } from "./prune.ts";

export interface Draft {
  content: string;
  category: string;
  title: string | null;
  pinned?: boolean | undefined;
}

export interface Writer {
  /** Key of a principal. */
  by: string;
  /** Session and prompt of an agent; null: a person writes. */
  source: { sessionId: string; promptId: string | null } | null;
}

export interface WrittenRows {
  row: MemoryRow;
  replaced: boolean;
  pruned: MemoryRow[];
}

export async function writeMemory(
  work: Work,
  key: MemoryScopeKey,
  draft: Draft,
  writer: Writer,
): Promise<WrittenRows> {
  const scope = await lockOrCreateScope(work.tx, key, work.ids.mint("shf"));
  const words = termsOfText(draft);
  const same = await findSameTopic(work.tx, scope.id, draft.category, words);
  if (!same) return addMemory(work, scope, { draft, words, writer });
  if (same.pinned === 1 && writer.source) throw pinnedRefusal(same);
  // A memory that was found by its words keeps its title.
  const to = { ...draft, title: draft.title ?? same.title };
  const row = await changeMemory(work, scope, same, to, writer.source);
  await recordMemoryAction(work, scope, { by: writer.by, action: "replaced", id: row.id });
  return { row, replaced: true, pruned: [] };
}

interface Addition {
  draft: Draft;
  words: TextTerms;
  writer: Writer;
  /** Times of an imported memory. */
  times?: Pick<MemoryRow, "created_at" | "updated_at" | "fades_at">;
}

export async function addMemory(
  work: Work,
  scope: MemoryScopeRow,
  { draft, words, writer, times }: Addition,
): Promise<WrittenRows> {
  const { now } = work;
  const isPinned = draft.pinned === true;
  if (isPinned) requirePinRoom(scope);
  const row: MemoryRow = {
    id: work.ids.mint("mem"),
    org_id: scope.org_id,
    user_id: scope.user_id,
    shelf_id: scope.id,
    kind: scope.kind,
    repo: scope.repo,
    category: draft.category,
    title: draft.title,
    content: draft.content,
    pinned: isPinned ? 1 : 0,
    fades_at: fadesAt(FIRST_RELEVANCE, now),
    access_count: 0,
    ...sizesOf(words),
    source_session_id: writer.source?.sessionId ?? null,
    source_prompt_id: writer.source?.promptId ?? null,
    history: "[]",
    created_at: now,
    updated_at: now,
    last_accessed_at: now,
    ...times,
  };
  await insertMemory(work.tx, row);
  await addTerms(work.tx, termRows(row, words));
  await growScope(work.tx, scope, { memories: 1, pinned: row.pinned, length: row.length });
  await recordMemoryAction(work, scope, { by: writer.by, action: "written", id: row.id });
  hintMemory(work, scope, row.id);
  return { row, replaced: false, pruned: await pruneToCap(work, scope, row.id) };
}

/** Changes the text, category or pin of a memory and keeps the earlier version. The scope is locked. */
export async function changeMemory(
  work: Work,
  scope: MemoryScopeRow,
  before: MemoryRow,
  to: Draft,
  source: Writer["source"],
): Promise<MemoryRow> {
  const pinned = (to.pinned ?? before.pinned === 1) ? 1 : 0;
  if (pinned > before.pinned) requirePinRoom(scope);
  const isOther = to.content !== before.content || to.title !== before.title;
  const words = termsOfText(to);
  const row: MemoryRow = {
    ...before,
    category: to.category,
    title: to.title,
    content: to.content,
    pinned,
    fades_at: renewed(before.fades_at, work.now),
    ...sizesOf(words),
    source_session_id: source?.sessionId ?? (isOther ? null : before.source_session_id),
    source_prompt_id: source?.promptId ?? (isOther ? null : before.source_prompt_id),
    history: isOther ? withEarlier(before, work.now) : before.history,
    updated_at: work.now,
  };
  await saveMemory(work.tx, row);
  if (isOther) {
    await removeTerms(work.tx, scope.id, row.id);
    await addTerms(work.tx, termRows(row, words));
  }
  const growth = {
    memories: 0,
    pinned: pinned - before.pinned,
    length: row.length - before.length,
  };
  await growScope(work.tx, scope, growth);
  hintMemory(work, scope, row.id);
  return row;
}

function withEarlier({ title, content, history }: MemoryRow, now: number): string {
  const replacedAt = new Date(now).toISOString();
  const earlier = JSON.parse(history) as EarlierVersion[];
  return JSON.stringify([{ title, content, replacedAt }, ...earlier].slice(0, MAX_HISTORY));
}

function requirePinRoom({ pinned }: MemoryScopeRow): void {
  if (pinned < MAX_PINNED) return;
  throw new Refusal(
    "limit",
    "too_many_pinned",
    `There are already ${MAX_PINNED} pinned memories. Unpin one that does not have to stay.`,
  );
}

/**
 * Refuses agents on pinned memories:
 * an agent may be manipulated, so a pinned memory stays as its owner left it.
 */
export function pinnedRefusal({ id }: MemoryRow): Refusal {
  return new Refusal(
    "conflict",
    "memory_pinned",
    `Your person has pinned a memory on this subject (${id}), so it stays as it is. If it is wrong, tell them.`,
  );
}
