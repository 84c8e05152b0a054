import type { MessageParty } from "#features/mailbox/contract.ts";

/** Name of a sender or a recipient, with the handle if there is one. */
export function partyName({ name, handle }: MessageParty): string {
  return handle === null ? name : `${name} (@${handle})`;
}
