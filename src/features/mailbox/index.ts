/**
 * The mailbox: letters between people and agents, and everybody's inbox. Who may write to whom is
 * decided from the server's rows; a letter to an agent becomes a prompt, one to a person is there.
 */
import type { Feature } from "#engine/index.ts";
import { SNOOZE_TIMER } from "./change-letter.ts";
import { judgeGuest } from "./guest.ts";
import { inboxRoutes } from "./inbox-routes.ts";
import { mailText } from "./letter-text.ts";
import { listenForAgents } from "./listen-agents.ts";
import { listenForPeople } from "./listen-people.ts";
import { purgeLettersOf } from "./purge.ts";
import { forgetTasks } from "./purge-queries.ts";
import { lettersRetention } from "./retention.ts";
import { mailboxMigrations } from "./schema.ts";
import { lettersToFind } from "./searchable.ts";
import { sendRoutes } from "./send-routes.ts";
import { snoozeIsOver } from "./snooze.ts";
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

export { readLately } from "./read-lately.ts";
export type { InboxRow, LetterRow } from "./schema.ts";
