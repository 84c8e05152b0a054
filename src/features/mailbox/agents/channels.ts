/**
 * Channels for messages to people besides the inbox: defaults per type, personal preferences, and
 * the channels that this server has configured.
 */
import type { Engine, Work } from "#engine/index.ts";
import {
  type MessageEventType,
  type MessageType,
  NOTIFICATION_CHANNELS,
  type NotificationChannel,
} from "../contract.ts";
import { findPreferences } from "../inbox/preference-queries.ts";
import type { MessageRow, PreferenceRow } from "../schema.ts";

export const DEFAULT_CHANNELS: Readonly<Record<MessageType, readonly NotificationChannel[]>> = {
  message: [],
  notification: ["slack"],
  question: ["slack"],
  approval: ["slack"],
  escalation: NOTIFICATION_CHANNELS,
};

/** Defaults that differ from those of the type. */
const DEFAULT_EVENT_CHANNELS: Partial<Record<MessageEventType, readonly NotificationChannel[]>> = {
  // A completed session needs no action; people who want to be notified turn the digest on.
  "session.completed": [],
};

/** True if this person collects completed sessions in one unread message. */
export function wantsDigest(set: readonly PreferenceRow[]): boolean {
  return set.some(({ event_type, digest }) => event_type === "session.completed" && digest === 1);
}

/** Outbox kind whose handler delivers messages to this channel. */
export function outboxKind(channel: NotificationChannel): string {
  return `message.${channel}`;
}

export function configuredChannels({ delivers }: Pick<Engine, "delivers">): NotificationChannel[] {
  return NOTIFICATION_CHANNELS.filter((channel) => delivers(outboxKind(channel)));
}

export async function wantedChannels(
  work: Work,
  message: MessageRow,
): Promise<NotificationChannel[]> {
  const wired = configuredChannels(work);
  if (wired.length === 0 || message.to_user_id === null) return [];
  const person = { orgId: message.org_id, userId: message.to_user_id };
  const set = await findPreferences(work.tx, person);
  const wanted = channelsFor(set, message.message_type, message.event_type);
  return wired.filter((channel) => wanted.includes(channel));
}

/** A preference for the event precedes one for the type, which precedes the default. */
export function channelsFor(
  set: readonly PreferenceRow[],
  type: MessageType,
  event: MessageRow["event_type"],
): readonly NotificationChannel[] {
  const ofType = set.filter((row) => row.message_type === type);
  const row =
    ofType.find(({ event_type }) => event !== null && event_type === event) ??
    ofType.find(({ event_type }) => event_type === "");
  if (!row) return (event && DEFAULT_EVENT_CHANNELS[event]) ?? DEFAULT_CHANNELS[type];
  return NOTIFICATION_CHANNELS.filter((channel) => row[channel] === 1);
}
