/**
 * The mailbox: messages between people and agents, and everybody's inbox. The server's rows decide
 * who may write to whom. A message to an agent becomes a prompt; a message to a person appears in
 * the inbox.
 */
import type { Feature } from "#engine/index.ts";
import { judgeGuest } from "./agents/guest.ts";
import { listenForAgents } from "./agents/listen-agents.ts";
import { SNOOZE_TIMER } from "./inbox/change-message.ts";
import { inboxRoutes } from "./inbox/inbox-routes.ts";
import { listenForPeople } from "./inbox/listen-people.ts";
import { endSnooze } from "./inbox/snooze.ts";
import { purgeMessagesOf } from "./keeping/purge.ts";
import { forgetTasks } from "./keeping/purge-queries.ts";
import { messagesRetention } from "./keeping/retention.ts";
import { searchableMessages } from "./keeping/searchable.ts";
import { mailboxMigrations } from "./schema.ts";
import { noticeText } from "./sending/message-text.ts";
import { sendRoutes } from "./sending/send-routes.ts";
import { mailboxTools } from "./tools.ts";

export function createMailbox(): Feature {
  return {
    name: "mailbox",
    migrations: mailboxMigrations,
    listeners: [
      listenForAgents,
      listenForPeople,
      async ({ tx }, event) => {
        if (event.type === "records_deleted" && event.kind === "task")
          await forgetTasks(tx, event.ids);
      },
    ],
    timers: { [SNOOZE_TIMER]: endSnooze },
    routes: [...sendRoutes, ...inboxRoutes],
    tools: mailboxTools,
    judge: judgeGuest,
    renderNotices: { messages: noticeText },
    searchable: [searchableMessages],
    // Messages from a deleted session stay with their recipients.
    sessionTables: ["messages.to_session_id", "messages.context_session_id=null"],
    retention: [messagesRetention],
    purgePerson: purgeMessagesOf,
  };
}

export { readRecentMessages } from "./agents/read-recent.ts";
export type { InboxRow, MessageRow } from "./schema.ts";
