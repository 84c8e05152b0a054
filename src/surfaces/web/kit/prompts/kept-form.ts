/** What stands in a form that was left without being sent, kept for this tab as unsent text is. */
import { isRecord } from "../api/api-client.ts";
import { keepDraft, readDraft } from "./session-draft.ts";

/** What was kept, on top of how the form begins. */
export function readForm<T extends object>(key: string, first: T): T {
  try {
    const kept: unknown = JSON.parse(readDraft(key));
    return isRecord(kept) ? { ...first, ...kept } : first;
  } catch {
    return first;
  }
}

/** Null: it was sent, or is not wanted any more. */
export function keepForm(key: string, form: object | null): void {
  keepDraft(key, form === null ? "" : JSON.stringify(form));
}
