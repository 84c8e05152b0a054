/** Unsent text, kept for this tab so that a reload or a look elsewhere loses nothing. */
const PREFIX = "muster.draft.";

export function readDraft(sessionId: string): string {
  try {
    return sessionStorage.getItem(PREFIX + sessionId) ?? "";
  } catch {
    return "";
  }
}

export function keepDraft(sessionId: string, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(PREFIX + sessionId);
    else sessionStorage.setItem(PREFIX + sessionId, text);
  } catch {
    // Storage may be full or forbidden; the text is still on the page.
  }
}
