/** Unsent text, kept for this tab so that a reload or leaving the page loses nothing. */
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

/** Removes the drafts of this tab. */
export function forgetDrafts(): void {
  try {
    for (const key of Object.keys(sessionStorage))
      if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
  } catch {
    // Without storage nothing was kept.
  }
}
