/**
 * Limits the turns of a tree without a person. Every turn that an agent or a platform prompt starts
 * is counted. At the limit no notice goes out and no agent may start another turn, until a person
 * writes in the tree. Pending events are kept and delivered then.
 */
import { Refusal } from "#base/refusal.ts";
import type { PromptRow, SessionWriter, Work } from "#engine/index.ts";
import { hintInbox, recordOrchestration } from "../notify/note.ts";
import type { UnattendedRow } from "../schema.ts";
import { findUnattended, insertUnattended, saveUnattended } from "../waits/wait-queries.ts";

/** Channel of prompts that notify parents of their children. */
export const WAKE_CHANNEL = "wake";

export function isWake({ origin }: Pick<PromptRow, "origin">): boolean {
  return (JSON.parse(origin) as { channelType?: string }).channelType === WAKE_CHANNEL;
}

/** Counts a prompt of an agent at admission, so that none is queued beyond the limit. */
export async function countAgentTurn(
  work: Work,
  { row }: SessionWriter,
  limit: number,
): Promise<void> {
  const count = await findUnattended(work.tx, row.root_session_id);
  if (count?.is_held === 1) {
    throw new Refusal(
      "limit",
      "unattended_limit_reached",
      `Agents have started ${count.turns} turns here since a person last wrote, which is the limit. End your turn and say what should be done next; work continues when a person writes.`,
    );
  }
  await countOne(work, row.org_id, row.root_session_id, count, limit);
}

/** Counts a platform prompt when it starts: a withdrawn one has cost nothing. */
export async function countWakeTurn(
  work: Work,
  { row }: SessionWriter,
  limit: number,
): Promise<void> {
  const count = await findUnattended(work.tx, row.root_session_id);
  await countOne(work, row.org_id, row.root_session_id, count, limit);
}

async function countOne(
  work: Work,
  orgId: string,
  rootId: string,
  count: UnattendedRow | undefined,
  limit: number,
): Promise<void> {
  const turns = (count?.turns ?? 0) + 1;
  const is_held = turns >= limit ? 1 : 0;
  if (count) await saveUnattended(work.tx, { ...count, turns, is_held });
  else
    await insertUnattended(work.tx, {
      session_id: rootId,
      org_id: orgId,
      turns,
      is_held,
      is_said: 0,
    });
}

/**
 * True if notices to this parent must wait for a person; the first one that waits records a notice.
 */
export async function isHeldBack(
  work: Work,
  parent: SessionWriter,
  thread: string,
): Promise<boolean> {
  const { row } = parent;
  const count = await findUnattended(work.tx, row.root_session_id);
  if (count?.is_held !== 1) return false;
  if (count.is_said === 1) return true;
  await saveUnattended(work.tx, { ...count, is_said: 1 });
  parent.record({
    type: "notice",
    thread,
    entryId: work.ids.mint("ent"),
    kind: "notice",
    role: "system",
    content: [{ type: "text", text: heldText(count.turns) }],
    reason: "unattended_limit_reached",
  });
  hintInbox(work, row);
  await recordOrchestration(work, row, { action: "wake_held", by: "system" });
  return true;
}

function heldText(turns: number): string {
  return `Agents have started ${turns} turns here since a person last wrote. Updates from child sessions are waiting: write something to continue.`;
}

/** Resets the count after a person wrote. Returns true if notices were held and may go out now. */
export async function resetUnattended(work: Work, rootId: string): Promise<boolean> {
  const count = await findUnattended(work.tx, rootId);
  if (!count || count.turns === 0) return false;
  await saveUnattended(work.tx, { ...count, turns: 0, is_held: 0, is_said: 0 });
  return count.is_held === 1;
}
