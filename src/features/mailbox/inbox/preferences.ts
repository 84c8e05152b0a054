/** Preferences for notifications of messages besides the inbox. */
import { Refusal } from "#base/refusal.ts";
import { command, type Engine, type Person } from "#engine/index.ts";
import { channelsFor, configuredChannels, wantsDigest } from "../agents/channels.ts";
import {
  MESSAGE_TYPES,
  type MessageEventType,
  type MessageType,
  type NotificationChannel,
  type NotificationPreference,
  type PreferenceChange,
} from "../contract.ts";
import type { PreferenceRow } from "../schema.ts";
import { findPreferences, savePreference } from "./preference-queries.ts";

export interface Preferences {
  items: NotificationPreference[];
  channels: NotificationChannel[];
}

export async function readPreferences(engine: Engine, person: Person): Promise<Preferences> {
  const set = await engine.store.read((reader) => findPreferences(reader, person));
  return { items: preferenceItems(set), channels: configuredChannels(engine) };
}

/** Omitted fields keep their value. */
export async function changePreference(
  engine: Engine,
  person: Person,
  change: PreferenceChange,
): Promise<Preferences> {
  if (change.deliverWeb === false)
    throw new Refusal(
      "invalid",
      "web_always",
      "Messages to you are always in your inbox. Omit deliverWeb, and read or archive what you do not need.",
    );
  const isDone = change.messageType === "notification" && change.eventType === "session.completed";
  if (change.digest !== undefined && !isDone)
    throw new Refusal(
      "invalid",
      "digest_not_offered",
      "Only completed sessions can be collected in a digest. Send it with messageType notification and eventType session.completed.",
    );
  const { orgId, userId } = person;
  const set = await command(engine, async (work) => {
    const known = await findPreferences(work.tx, person);
    const now = channelsFor(known, change.messageType, change.eventType);
    await savePreference(work.tx, {
      org_id: orgId,
      user_id: userId,
      message_type: change.messageType,
      event_type: change.eventType ?? "",
      slack: flag(change.deliverSlack ?? now.includes("slack")),
      telegram: flag(change.deliverTelegram ?? now.includes("telegram")),
      email: flag(change.deliverEmail ?? now.includes("email")),
      push: flag(change.deliverPush ?? now.includes("push")),
      digest: flag(change.digest ?? (isDone && wantsDigest(known))),
    });
    return findPreferences(work.tx, person);
  });
  return { items: preferenceItems(set), channels: configuredChannels(engine) };
}

const flag = (is: boolean) => (is ? 1 : 0);

/** Lists each type, followed by its events with their own setting. */
function preferenceItems(set: readonly PreferenceRow[]): NotificationPreference[] {
  return MESSAGE_TYPES.flatMap((type) => {
    const ofType = set.filter((row) => row.message_type === type);
    const isSet = ofType.some(({ event_type }) => event_type === "");
    const ownEvents = ofType.flatMap(({ event_type }) => (event_type === "" ? [] : [event_type]));
    return [
      preference(set, type, null, !isSet),
      ...ownEvents.map((event) => preference(set, type, event, false)),
    ];
  });
}

function preference(
  set: readonly PreferenceRow[],
  messageType: MessageType,
  eventType: MessageEventType | null,
  isDefault: boolean,
): NotificationPreference {
  const channels = channelsFor(set, messageType, eventType);
  return {
    messageType,
    eventType,
    deliverWeb: true,
    deliverSlack: channels.includes("slack"),
    deliverTelegram: channels.includes("telegram"),
    deliverEmail: channels.includes("email"),
    deliverPush: channels.includes("push"),
    digest: eventType === "session.completed" && wantsDigest(set),
    isDefault,
  };
}
