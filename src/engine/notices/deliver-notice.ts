/**
 * Delivery of notices that features keep as rows, exactly once. One prompt delivers all undelivered
 * rows of a kind to a conversation: it is admitted with the first of them, and more join it for as
 * long as it waits in the queue. A row names the prompt that delivers it, in the transaction that
 * admits or edits that prompt, and is delivered when its turn begins. While agents have been
 * unattended for too long nothing new is admitted, and the rows wait for a person.
 */
import type { Notice } from "#protocol/notices/notices.ts";
import type { PromptRow } from "../schema.ts";
import { withdrawPrompt } from "../sessions/prompts/change-queue.ts";
import { findPrompt } from "../sessions/prompts/prompt-queries.ts";
import type { SessionWriter, Work } from "../work.ts";
import { admitNotice, editNotice, type NoticeSender } from "./admit-notice.ts";

/** A row to deliver; `prompt_id` is the prompt that delivers it, null while none does. */
interface DeliveryRow {
  prompt_id: string | null;
}

/** Rows of one kind for one conversation, and the functions of the feature that keeps them. */
export interface NoticeSource<R extends DeliveryRow> {
  thread: string;
  sender: NoticeSender;
  /** Rows that no turn has read, oldest first. */
  pending: readonly R[];
  /** Most rows for one prompt; the next prompt delivers the rest. */
  limit?: number;
  compose(rows: readonly R[]): Notice | Promise<Notice>;
  /** Records the prompt that delivers these rows. */
  assign(rows: readonly R[], promptId: string): Promise<unknown>;
  /** True when the tree must wait for a person before another turn begins. */
  isHeld(): Promise<boolean>;
  /** Marks rows that are held; a source whose rows wait by themselves has none. */
  hold?(rows: readonly R[]): Promise<unknown>;
}

export type Delivery = "nothing" | "held" | "queued";

export async function deliverNotice<R extends DeliveryRow>(
  work: Work,
  session: SessionWriter,
  source: NoticeSource<R>,
): Promise<Delivery> {
  const { pending, sender, thread } = source;
  if (pending.length === 0) return "nothing";
  const open = await findOpenPrompt(work, sender, pending);
  if (open) {
    await join(work, session, source, open);
    return "queued";
  }
  const fresh = pending.filter(({ prompt_id }) => prompt_id === null);
  if (fresh.length === 0) return "nothing";
  if (await source.isHeld()) {
    await source.hold?.(fresh);
    return "held";
  }
  const rows = fresh.slice(0, source.limit);
  const notice = await source.compose(rows);
  const id = work.ids.mint("pmt");
  await source.assign(rows, id);
  await admitNotice(work, session, { id, thread, notice, sender });
  return "queued";
}

/** Updates a waiting prompt after its rows have changed: it lists what is left, or is withdrawn. */
export async function refreshNotice<R extends DeliveryRow>(
  work: Work,
  session: SessionWriter,
  prompt: PromptRow,
  source: NoticeSource<R>,
): Promise<void> {
  if (source.pending.length === 0) await withdrawPrompt(work, session, prompt);
  else await join(work, session, source, prompt);
}

async function join<R extends DeliveryRow>(
  work: Work,
  session: SessionWriter,
  source: NoticeSource<R>,
  prompt: PromptRow,
): Promise<void> {
  const rows = source.pending
    .filter(({ prompt_id }) => prompt_id === null || prompt_id === prompt.id)
    .slice(0, source.limit);
  await source.assign(rows, prompt.id);
  await editNotice(work, session, prompt, await source.compose(rows));
}

/** Prompt that delivers some of these rows and whose turn has not begun. */
export async function findOpenPrompt(
  work: Work,
  sender: NoticeSender,
  rows: readonly DeliveryRow[],
): Promise<PromptRow | undefined> {
  for (const id of new Set(rows.flatMap(({ prompt_id }) => prompt_id ?? []))) {
    const prompt = await findPrompt(work.tx, id);
    if (prompt && isOpen(prompt, sender)) return prompt;
  }
  return undefined;
}

/** True if the prompt waits and holds only notices of this sender: collected prompts quote more. */
export function isOpen({ state, cause_key }: PromptRow, { origin }: NoticeSender): boolean {
  const isWaiting = state === "queued" || state === "collecting";
  return isWaiting && cause_key?.startsWith(`${origin.channelType}:`) === true;
}
