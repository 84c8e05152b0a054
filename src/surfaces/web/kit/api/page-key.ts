/**
 * Secret of this page's origin. Cookies go to every port of this host; the storage of an origin does
 * not, so the server accepts a session's cookie only together with this key. Read anew each time: all
 * tabs share it, and signing out in one of them replaces it.
 */
import { PAGE_KEY_STORAGE } from "#protocol/page-key.ts";

const KEY_BYTES = 32;
/** Key in memory for browsers without storage: the sign-in lasts until the page is left. */
let unkept: string | undefined;

export function pageKey(): string {
  try {
    const kept = localStorage.getItem(PAGE_KEY_STORAGE);
    if (kept !== null) return kept;
    const fresh = newKey();
    localStorage.setItem(PAGE_KEY_STORAGE, fresh);
    return fresh;
  } catch {
    unkept ??= newKey();
    return unkept;
  }
}

/** Drops the key at sign-out: the next person who signs in gets their own. */
export function dropPageKey(): void {
  unkept = undefined;
  try {
    localStorage.removeItem(PAGE_KEY_STORAGE);
  } catch {
    // Without storage nothing was kept.
  }
}

function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
