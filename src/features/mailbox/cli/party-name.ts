import type { LetterParty } from "#features/mailbox/contract.ts";

/** Name of a sender or a recipient, with the handle if there is one. */
export function partyName({ name, handle }: LetterParty): string {
  return handle === null ? name : `${name} (@${handle})`;
}
