/** Where letters are, and how who wrote one is called. */
import type { LetterParty } from "#features/mailbox/contract.ts";

export const INBOX = "/api/me/inbox";
export const MESSAGES = "/api/messages";

export const letterPath = (id: string) => `${INBOX}/${encodeURIComponent(id)}`;

export function nameOf({ name, handle }: LetterParty): string {
  return handle === null ? name : `${name} (@${handle})`;
}
