/**
 * The mailbox: letters between people and agents, and everybody's inbox. Who may write to whom is
 * decided from the server's rows; a letter to an agent becomes a prompt, one to a person is there.
 */
import type { Feature } from "#engine/index.ts";
import { judgeGuest } from "./agents/guest.ts";
import { listenForAgents } from "./agents/listen-agents.ts";
import { SNOOZE_TIMER } from "./inbox/change-letter.ts";
import { inboxRoutes } from "./inbox/inbox-routes.ts";
import { listenForPeople } from "./inbox/listen-people.ts";
import { snoozeIsOver } from "./inbox/snooze.ts";
import { purgeLettersOf } from "./keeping/purge.ts";
import { forgetTasks } from "./keeping/purge-queries.ts";
import { lettersRetention } from "./keeping/retention.ts";
import { lettersToFind } from "./keeping/searchable.ts";
import { mailboxMigrations } from "./schema.ts";
import { mailText } from "./sending/letter-text.ts";
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
    timers: { [SNOOZE_TIMER]: snoozeIsOver },
    routes: [...sendRoutes, ...inboxRoutes],
    tools: mailboxTools,
    judge: judgeGuest,
    renderNotices: { messages: mailText },
    searchable: [lettersToFind],
    // A letter from a session that is gone stays with who got it.
    sessionTables: ["letters.to_session_id", "letters.context_session_id=null"],
    retention: [lettersRetention],
    purgePerson: purgeLettersOf,
  };
}

export { readLately } from "./agents/read-lately.ts";
export type { InboxRow, LetterRow } from "./schema.ts";
