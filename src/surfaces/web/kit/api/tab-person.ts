/**
 * Person whose content this browser holds. All tabs share one sign-in, so each tab has to know when
 * another tab signs out or signs somebody else in, and drop what it kept.
 */
import { forgetDrafts } from "../prompts/session-draft.ts";

const PERSON = "muster.person";
/** Stored instead of the person when a sign-in expired without a sign-out. */
const EXPIRED = "";
/** Key of the person whose drafts this tab holds: a tab may come back long after its person has left. */
const DRAFTS_OF = "muster.drafts-of";
const UNSENT = "muster.unsent.";
let wasSignedInHere = false;

/** Prefix of the storage keys of a person's unsent prompts. */
export function unsentPrefix(userId: string): string {
  return `${UNSENT}${userId}.`;
}

/** Removes every draft and unsent prompt that this tab can reach, except those of the given person. */
export function forgetContent(except?: string): void {
  forgetDrafts();
  forgetUnsent(except);
}

/** Clears the content of a person who was signed out, and makes the other tabs do the same. */
export function leave(): void {
  forgetContent();
  withStorage(() => localStorage.removeItem(PERSON));
}

/**
 * Notifies the other tabs that the sign-in has expired. Kept content stays: its person may sign in
 * again, and another person gets none of it.
 */
export function announceExpiry(): void {
  withStorage(() => {
    if (localStorage.getItem(PERSON)) localStorage.setItem(PERSON, EXPIRED);
  });
}

/** Records the person who is shown, notifies the other tabs, and drops another person's content. */
export function takeOver(userId: string): void {
  withStorage(() => {
    const draftsOf = sessionStorage.getItem(DRAFTS_OF);
    if (draftsOf !== null && draftsOf !== userId) forgetDrafts();
    sessionStorage.setItem(DRAFTS_OF, userId);
    forgetUnsent(userId);
    if (localStorage.getItem(PERSON) !== userId) localStorage.setItem(PERSON, userId);
  });
}

/** Calls back when another tab changes who is signed in. Null: signed out. Empty: expired. */
export function onPersonChange(listener: (userId: string | null) => void): () => void {
  const onStorage = ({ key, newValue }: StorageEvent) => {
    // A null key means that everything was cleared.
    if (key === PERSON || key === null) listener(key === null ? null : newValue);
  };
  // The browser may keep a page that was left, and show it again unchanged.
  const onPageShow = ({ persisted }: PageTransitionEvent) => {
    if (persisted) withStorage(() => listener(localStorage.getItem(PERSON)));
  };
  window.addEventListener("storage", onStorage);
  window.addEventListener("pageshow", onPageShow);
  return () => {
    window.removeEventListener("storage", onStorage);
    window.removeEventListener("pageshow", onPageShow);
  };
}

/** Records that this tab signs in the next person, so that no notice is shown. */
export function noteSignedInHere(): void {
  wasSignedInHere = true;
}

/** Returns true once after this tab has signed somebody in. */
export function takeSignedInHere(): boolean {
  const was = wasSignedInHere;
  wasSignedInHere = false;
  return was;
}

function forgetUnsent(except?: string): void {
  withStorage(() => {
    const kept = except === undefined ? null : unsentPrefix(except);
    for (const key of Object.keys(localStorage)) {
      const isKept = kept !== null && key.startsWith(kept);
      if (key.startsWith(UNSENT) && !isKept) localStorage.removeItem(key);
    }
  });
}

/** Storage may be forbidden; then there is nothing to announce and nothing was kept. */
function withStorage(act: () => void): void {
  try {
    act();
  } catch {
    // Forbidden storage holds nothing.
  }
}
