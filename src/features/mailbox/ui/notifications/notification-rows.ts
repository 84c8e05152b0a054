/** Notification settings by row: each type, and below it its subjects. Pure. */
import type {
  MessageEventType,
  MessageType,
  NotificationChannel,
  NotificationPreference,
  PreferenceChange,
} from "#features/mailbox/contract.ts";

export const CHANNELS: Record<NotificationChannel, string> = {
  slack: "Slack",
  telegram: "Telegram",
  email: "E-mail",
  push: "Push",
};

const FIELDS = {
  slack: "deliverSlack",
  telegram: "deliverTelegram",
  email: "deliverEmail",
  push: "deliverPush",
} as const satisfies Record<NotificationChannel, keyof PreferenceChange>;

export interface PreferenceRow {
  messageType: MessageType;
  eventType: MessageEventType | null;
  name: string;
  /** True if the row has no setting of its own and follows its type. */
  isAsType: boolean;
  channels: ReadonlySet<NotificationChannel>;
}

const ROWS: readonly {
  messageType: MessageType;
  name: string;
  events: [MessageEventType, string][];
}[] = [
  { messageType: "message", name: "Messages", events: [] },
  {
    messageType: "notification",
    name: "Notifications",
    events: [
      ["session.completed", "Session completed"],
      ["mail.loop_cut", "Loop between agents stopped"],
    ],
  },
  {
    messageType: "question",
    name: "Questions",
    events: [["session.question", "Session asks a question"]],
  },
  {
    messageType: "escalation",
    name: "Escalations",
    events: [["session.failed", "Session failed"]],
  },
  {
    messageType: "approval",
    name: "Approvals",
    events: [["session.approval", "Session needs a decision"]],
  },
];

/** Lists rows; subjects only where a channel can be chosen. */
export function preferenceRows(
  items: readonly NotificationPreference[],
  withEvents: boolean,
): PreferenceRow[] {
  const find = (messageType: MessageType, eventType: MessageEventType | null) =>
    items.find((item) => item.messageType === messageType && item.eventType === eventType);
  return ROWS.flatMap(({ messageType, name, events }) => {
    const ofType = find(messageType, null);
    const channels = channelsOf(ofType);
    return [
      { messageType, eventType: null, name, isAsType: false, channels },
      ...(withEvents ? events : []).map(([eventType, words]): PreferenceRow => {
        const own = find(messageType, eventType);
        const isAsType = own === undefined;
        return {
          messageType,
          eventType,
          name: words,
          isAsType,
          channels: isAsType ? channels : channelsOf(own),
        };
      }),
    ];
  });
}

/** Returns the request that switches a channel in a row. */
export function switched(
  row: PreferenceRow,
  channel: NotificationChannel,
  isOn: boolean,
): PreferenceChange {
  const { messageType, eventType } = row;
  return { messageType, eventType, [FIELDS[channel]]: isOn };
}

function channelsOf(item: NotificationPreference | undefined): ReadonlySet<NotificationChannel> {
  const all = Object.keys(FIELDS) as NotificationChannel[];
  return new Set(all.filter((channel) => item?.[FIELDS[channel]] === true));
}
