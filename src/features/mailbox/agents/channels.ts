/**
 * Channels for messages to people besides the inbox: defaults per type, personal preferences, and
 * the channels that this server has configured.
 */
import type { Engine, Work } from "#engine/index.ts";
import {
  LETTER_CHANNELS,
  type LetterChannel,
  type LetterEvent,
  type LetterType,
} from "../contract.ts";
import { findPreferences } from "../inbox/preference-queries.ts";
import type { LetterRow, PreferenceRow } from "../schema.ts";

export const DEFAULT_CHANNELS: Readonly<Record<LetterType, readonly LetterChannel[]>> = {
  message: [],
  notification: ["slack"],
  question: ["slack"],
  approval: ["slack"],
  escalation: LETTER_CHANNELS,
};

/** Defaults that differ from those of the type. */
const DEFAULT_EVENT_CHANNELS: Partial<Record<LetterEvent, readonly LetterChannel[]>> = {
  // A completed session needs no action; people who want to be notified turn the digest on.
  "session.completed": [],
};

/** True if this person collects completed sessions in one unread message. */
export function wantsDigest(set: readonly PreferenceRow[]): boolean {
  return set.some(({ event_type, digest }) => event_type === "session.completed" && digest === 1);
}

/** Outbox kind whose handler delivers messages to this channel. */
export function outboxKind(channel: LetterChannel): string {
  return `letter.${channel}`;
}

export function wiredChannels({ delivers }: Pick<Engine, "delivers">): LetterChannel[] {
  return LETTER_CHANNELS.filter((channel) => delivers(outboxKind(channel)));
}

export async function wantedChannels(work: Work, letter: LetterRow): Promise<LetterChannel[]> {
  const wired = wiredChannels(work);
  if (wired.length === 0 || letter.to_user_id === null) return [];
  const person = { orgId: letter.org_id, userId: letter.to_user_id };
  const set = await findPreferences(work.tx, person);
  const wanted = channelsFor(set, letter.message_type, letter.event_type);
  return wired.filter((channel) => wanted.includes(channel));
}

/** A preference for the event precedes one for the type, which precedes the default. */
export function channelsFor(
  set: readonly PreferenceRow[],
  type: LetterType,
  event: LetterRow["event_type"],
): readonly LetterChannel[] {
  const ofType = set.filter((row) => row.message_type === type);
  const row =
    ofType.find(({ event_type }) => event !== null && event_type === event) ??
    ofType.find(({ event_type }) => event_type === "");
  if (!row) return (event && DEFAULT_EVENT_CHANNELS[event]) ?? DEFAULT_CHANNELS[type];
  return LETTER_CHANNELS.filter((channel) => row[channel] === 1);
}
