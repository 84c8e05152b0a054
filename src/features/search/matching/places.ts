/** Where an entry of a transcript stands: its session, a colon, its seq. Pure. */

/** The kind that entries are found as. */
export const ENTRY = "transcript";

export interface EntryPlace {
  sessionId: string;
  seq: number;
}

export function entryRef({ sessionId, seq }: EntryPlace): string {
  return `${sessionId}:${seq}`;
}

/** Ids of sessions may have colons of their own. */
export function entryPlace(ref: string): EntryPlace {
  const at = ref.lastIndexOf(":");
  return { sessionId: ref.slice(0, at), seq: Number(ref.slice(at + 1)) };
}

/** The refs of all entries of a session lie from the one up to the other. */
export function refsOf(sessionId: string): { from: string; upTo: string } {
  return { from: `${sessionId}:`, upTo: `${sessionId};` };
}
