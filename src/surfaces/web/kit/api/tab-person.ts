/**
 * The person whose content this browser holds. All tabs share one sign-in, so each tab has to hear when
 * another tab signs out or signs somebody else in, and drop what it kept.
 */
import { forgetDrafts } from "../prompts/session-draft.ts";

const PERSON = "muster.person";
/** In place of the person: nobody is signed in, and nobody has signed out. */
const EXPIRED = "";
/** Whose drafts this tab holds: a tab may come back long after its person has left. */
const DRAFTS_OF = "muster.drafts-of";
const UNSENT = "muster.unsent.";
let wasSignedInHere = false;

/** Beginning of the storage keys of a person's prompts that are not sent yet. */
export function unsentPrefix(userId: string): string {
  return `${UNSENT}${userId}.`;
}

/** Removes every draft and unsent prompt that this tab can reach, but for those of who is named. */
export function forgetContent(except?: string): void {
  forgetDrafts();
  forgetUnsent(except);
}

/** Clears what a person keeps here who was signed out, and makes the other tabs do the same. */
export function leave(): void {
  forgetContent();
  withStorage(() => localStorage.removeItem(PERSON));
}

/**
 * Tells the other tabs that the sign-in has expired. What is kept stays: its person may sign in again,
 * and somebody else who does gets none of it.
 */
export function announceExpiry(): void {
  withStorage(() => {
    if (localStorage.getItem(PERSON)) localStorage.setItem(PERSON, EXPIRED);
  });
}

/** Notes that this person is shown here, tells the other tabs, and drops what somebody else has left. */
export function takeOver(userId: string): void {
  withStorage(() => {
    const draftsOf = sessionStorage.getItem(DRAFTS_OF);
    if (draftsOf !== null && draftsOf !== userId) forgetDrafts();
    sessionStorage.setItem(DRAFTS_OF, userId);
    forgetUnsent(userId);
    if (localStorage.getItem(PERSON) !== userId) localStorage.setItem(PERSON, userId);
  });
}

/** Calls back when another tab changes who is signed in; null: signed out. Empty: expired. */
export function onPersonChange(listener: (userId: string | null) => void): () => void {
  const heard = ({ key, newValue }: StorageEvent) => {
    // A key of null: everything was cleared.
    if (key === PERSON || key === null) listener(key === null ? null : newValue);
  };
  // The browser may keep a page that was left, and show it again as it was.
  const cameBack = ({ persisted }: PageTransitionEvent) => {
    if (persisted) withStorage(() => listener(localStorage.getItem(PERSON)));
  };
  window.addEventListener("storage", heard);
  window.addEventListener("pageshow", cameBack);
  return () => {
    window.removeEventListener("storage", heard);
    window.removeEventListener("pageshow", cameBack);
  };
}

/** The next person who is shown was signed in by this tab, so nobody has to be told. */
export function noteSignedInHere(): void {
  wasSignedInHere = true;
}

/** True once after this tab has signed somebody in. */
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

/** Storage may be forbidden; then there is nothing to tell and nothing was kept. */
function withStorage(act: () => void): void {
  try {
    act();
  } catch {
    // See above.
  }
}
