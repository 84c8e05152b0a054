/** Drafts of forms that were closed without sending, kept for this tab like unsent text. */
import { isRecord } from "../api/api-client.ts";
import { keepDraft, readDraft } from "./session-draft.ts";

/** Returns the kept draft merged over the form's initial values. */
export function readForm<T extends object>(key: string, first: T): T {
  try {
    const kept: unknown = JSON.parse(readDraft(key));
    return isRecord(kept) ? { ...first, ...kept } : first;
  } catch {
    return first;
  }
}

/** Null removes the draft, after sending or discarding. */
export function keepForm(key: string, form: object | null): void {
  keepDraft(key, form === null ? "" : JSON.stringify(form));
}
