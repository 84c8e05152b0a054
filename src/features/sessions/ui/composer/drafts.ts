/**
 * Streamed text by entry. Follows the offset rule of the protocol: a delta is appended when exactly the
 * text before it is held, offset 0 starts over, anything else waits for a start or for the finished
 * entry.
 */
import type { Delta, SessionEvent } from "#protocol/events.ts";

export interface Draft {
  entryId: string;
  thread: string;
  kind: Delta["kind"];
  /** Tool name of a call. */
  toolName?: string | undefined;
  text: string;
}

/** In order of appearance. */
export type Drafts = readonly Draft[];

export const NO_DRAFTS: Drafts = [];

export function applyDelta(drafts: Drafts, delta: Delta): Drafts {
  const held = drafts.find((draft) => draft.entryId === delta.entryId);
  if (delta.offset !== (held?.text.length ?? 0) && delta.offset !== 0) return drafts;
  if (held === undefined) {
    const { entryId, thread, kind, toolName, text } = delta;
    return [...drafts, { entryId, thread, kind, toolName, text }];
  }
  const text = delta.offset === 0 ? delta.text : held.text + delta.text;
  const toolName = delta.toolName ?? held.toolName;
  return drafts.map((draft) => (draft === held ? { ...draft, toolName, text } : draft));
}

/** Removes a draft when its entry is finished, and all drafts of a thread when its run ends. */
export function settleDrafts(drafts: Drafts, event: SessionEvent): Drafts {
  if (drafts.length === 0) return drafts;
  const kept = drafts.filter((draft) => !isOver(draft, event));
  return kept.length === drafts.length ? drafts : kept;
}

function isOver(draft: Draft, event: SessionEvent): boolean {
  if (event.entryId !== null && draft.entryId === event.entryId) return true;
  if (event.thread !== null && event.thread !== draft.thread) return false;
  // Live output of a tool ends with its result, whatever id the result has.
  if (event.type === "post_tool") return draft.kind === "tool_call";
  return RUN_PAUSES.has(event.type);
}

/** Events after which nothing is being written. */
const RUN_PAUSES: ReadonlySet<SessionEvent["type"]> = new Set([
  "run_settled",
  "run_lost",
  "run_parked",
  "prompt_settled",
]);
