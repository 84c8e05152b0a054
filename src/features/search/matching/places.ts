/** Reference to an entry of a transcript: its session, a colon, its seq. Pure. */

/** Search kind of entries. */
export const ENTRY = "transcript";

export interface EntryPlace {
  sessionId: string;
  seq: number;
}

export function entryRef({ sessionId, seq }: EntryPlace): string {
  return `${sessionId}:${seq}`;
}

/** Parses a reference. Session ids may contain colons. */
export function entryPlace(ref: string): EntryPlace {
  const at = ref.lastIndexOf(":");
  return { sessionId: ref.slice(0, at), seq: Number(ref.slice(at + 1)) };
}

/** Returns the range of the references of all entries of a session. */
export function refsOf(sessionId: string): { from: string; upTo: string } {
  return { from: `${sessionId}:`, upTo: `${sessionId};` };
}
