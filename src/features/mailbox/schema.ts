/**
 * Tables of the mailbox. A message has exactly one sender and one recipient, each a session or a
 * person; the database rejects anything else. The row stores the owner of each side, so that one
 * column decides what a person may see, even after the session is deleted.
 */
import type { Migration } from "#base/store/index.ts";
import { ddl } from "#engine/index.ts";
import type { MessageDecision, MessageEventType, MessageFate, MessageType } from "./contract.ts";

export interface MessageRow {
  id: string;
  org_id: string;
  thread_id: string;
  reply_to_id: string | null;
  from_session_id: string | null;
  from_user_id: string | null;
  /**
   * Person behind the sender: the sender itself or the owner of its session. Null for the
   * organisation.
   */
  from_owner_id: string | null;
  from_name: string;
  from_handle: string | null;
  /** Thread that the sender wrote in; a reply goes back there. */
  from_thread: string | null;
  to_session_id: string | null;
  to_user_id: string | null;
  to_owner_id: string | null;
  to_name: string;
  to_handle: string | null;
  /** Thread in which the receiving agent reads the message. */
  to_thread: string | null;
  message_type: MessageType;
  event_type: MessageEventType | null;
  content: string;
  context_session_id: string | null;
  context_task_id: string | null;
  context_ref: string | null;
  /** Number of hops between different owners since a person last wrote. */
  hops: number;
  /** Decision on the approval, question or plan; null while it is pending, or if there is none. */
  decision: MessageDecision | null;
  /**
   * Time when the agent's owner let a guest's request through; null if not yet, or not a request.
   */
  let_through_at: number | null;
  fate: MessageFate;
  fate_reason: string | null;
  /** Prompt that delivers the message to its agent. */
  prompt_id: string | null;
  read_at: number | null;
  archived_at: number | null;
  snoozed_until: number | null;
  /** Position in the inbox: the time of writing, or of the return from a snooze. */
  surfaced_at: number;
  /** Unique key of the cause; one cause writes one message. */
  cause_key: string | null;
  created_at: number;
}

/** One row per person. Locking the row protects its unread count. */
export interface InboxRow {
  org_id: string;
  user_id: string;
  /** Unread messages in the inbox, without snoozed and archived ones. */
  unread: number;
}

export interface PreferenceRow {
  org_id: string;
  user_id: string;
  message_type: MessageType;
  /** Empty for a setting that applies to every event. */
  event_type: MessageEventType | "";
  slack: number;
  telegram: number;
  email: number;
  push: number;
  /** 1 if an unread digest collects these messages. Only for completed sessions. */
  digest: number;
}

/** Contact whose agents may write to this person's agents. */
export interface ContactRow {
  org_id: string;
  user_id: string;
  contact_id: string;
}

export interface MailboxTables {
  messages: MessageRow;
  inboxes: InboxRow;
  notification_preferences: PreferenceRow;
  mail_contacts: ContactRow;
}

const tables = `
create table letters (
  id ID primary key, org_id ID not null, thread_id ID not null, reply_to_id ID,
  from_session_id ID, from_user_id ID, from_owner_id ID, from_name text not null, from_handle text,
  from_thread ID, to_session_id ID, to_user_id ID, to_owner_id ID, to_name text not null,
  to_handle text, to_thread ID, message_type ID not null, event_type ID, content text not null,
  context_session_id ID, context_task_id ID, context_ref text, hops integer not null,
  fate ID not null, fate_reason text, prompt_id ID, read_at bigint, archived_at bigint,
  snoozed_until bigint, surfaced_at bigint not null, cause_key ID unique, created_at bigint not null,
  check ((from_session_id is null) <> (from_user_id is null)),
  check ((to_session_id is null) <> (to_user_id is null)),
  check (message_type in ('message', 'notification', 'question', 'escalation', 'approval')),
  check (fate in ('delivered', 'waiting', 'failed'))
);
create index letters_inbox on letters (to_user_id, surfaced_at, id)
  where to_user_id is not null and archived_at is null and snoozed_until is null;
create index letters_unread on letters (to_user_id, surfaced_at, id)
  where to_user_id is not null and read_at is null and archived_at is null and snoozed_until is null;
create index letters_archived on letters (to_user_id, archived_at, id)
  where to_user_id is not null and archived_at is not null;
create index letters_snoozed on letters (to_user_id, snoozed_until, id)
  where to_user_id is not null and snoozed_until is not null;
create index letters_to_user on letters (to_user_id, created_at, id) where to_user_id is not null;
create index letters_to_user_from on letters (to_user_id, from_session_id, surfaced_at, id)
  where to_user_id is not null and from_session_id is not null;
create index letters_to_user_about on letters (to_user_id, context_session_id, surfaced_at, id)
  where to_user_id is not null and context_session_id is not null;
create index letters_to_user_type on letters (to_user_id, message_type, surfaced_at, id)
  where to_user_id is not null;
create index letters_to_user_person on letters (to_user_id, from_user_id, surfaced_at, id)
  where to_user_id is not null and from_user_id is not null;
create index letters_to_user_task on letters (to_user_id, context_task_id, surfaced_at, id)
  where to_user_id is not null and context_task_id is not null;
create index letters_sent on letters (from_user_id, created_at, id) where from_user_id is not null;
create index letters_to_session on letters (to_session_id, created_at, id)
  where to_session_id is not null;
create index letters_unread_by_session on letters (to_session_id, created_at, id)
  where to_session_id is not null and read_at is null;
create index letters_from_session on letters (from_session_id, created_at, id)
  where from_session_id is not null;
create index letters_held on letters (org_id, to_session_id)
  where to_session_id is not null and read_at is null and fate_reason is not null;
create index letters_thread on letters (thread_id, created_at, id);
create index letters_prompt on letters (prompt_id) where prompt_id is not null;
create index letters_from_owner on letters (from_owner_id, created_at, id)
  where from_owner_id is not null;
create index letters_to_owner on letters (to_owner_id, created_at, id) where to_owner_id is not null;
create table inboxes (
  org_id ID not null, user_id ID not null, unread integer not null, primary key (org_id, user_id)
);
create table notification_preferences (
  org_id ID not null, user_id ID not null, message_type ID not null, event_type ID not null,
  slack integer not null, telegram integer not null, email integer not null, push integer not null,
  primary key (org_id, user_id, message_type, event_type)
);
create table mail_contacts (
  org_id ID not null, user_id ID not null, contact_id ID not null,
  primary key (org_id, user_id, contact_id)
);
`;

/**
 * Indexes for counting a sender's unread messages to one recipient, which every send does. Their
 * cost must not grow with the messages that were already read.
 */
const room = `
create index letters_unread_from on letters (to_user_id, from_session_id, from_user_id, id)
  where to_user_id is not null and read_at is null and event_type is null;
create index letters_untold_from on letters (to_session_id, from_session_id, from_user_id, id)
  where to_session_id is not null and read_at is null and event_type is null;
`;

const settled = `
create index letters_settled on letters ((coalesce(archived_at, read_at)))
  where coalesce(archived_at, read_at) is not null
`;

const decisions = `
alter table letters add column decision ID;
alter table notification_preferences add column digest integer not null default 0;
`;

/** Messages about completed sessions need no action, so this step marks the unread ones as read. */
const quietDone = `
update letters set read_at = created_at
  where event_type = 'session.completed' and read_at is null and to_user_id is not null;
update inboxes set unread = (
  select count(*) from letters where letters.org_id = inboxes.org_id
    and letters.to_user_id = inboxes.user_id and letters.read_at is null
    and letters.archived_at is null and letters.snoozed_until is null
);
`;

const references = `
create index letters_to_user_ref on letters (to_user_id, context_ref, surfaced_at, id)
  where to_user_id is not null and context_ref is not null
`;

/** Indexes for clearing references to deleted sessions and tasks. */
const contexts = `
create index letters_context_session on letters (context_session_id)
  where context_session_id is not null;
create index letters_context_task on letters (context_task_id) where context_task_id is not null
`;
const letThrough = "alter table letters add column let_through_at bigint";

/**
 * Renames the table `letters` to `messages`, and the values that other rows store about it. PostgreSQL
 * renames indexes and constraints in place. SQLite cannot, so it builds the indexes again; the rows
 * stay where they are.
 */
const renameTable = {
  sqlite: () => [
    "alter table letters rename to messages",
    ...[tables, room, settled, references, contexts].flatMap((text) =>
      [...text.matchAll(/create index (letters_\w+)[^;]+/g)].flatMap(([statement, name]) => [
        `drop index ${name}`,
        statement.replace(/\bletters/g, "messages"),
      ]),
    ),
  ],
  postgres: () => [
    "alter table letters rename to messages",
    `do $$ declare item record; begin
      for item in select conname as name from pg_constraint
        where conrelid = 'messages'::regclass and conname like 'letters%' loop
        execute format('alter table messages rename constraint %I to %I', item.name,
          'messages' || substr(item.name, 8));
      end loop;
      for item in select relname as name from pg_class join pg_index on indexrelid = pg_class.oid
        where indrelid = 'messages'::regclass and relname like 'letters%' loop
        execute format('alter index %I rename to %I', item.name,
          'messages' || substr(item.name, 8));
      end loop;
    end $$`,
  ],
} as const;

/** Few rows: messages that are snoozed, wait for a channel, or report a cut exchange. */
const renameValues = [
  "update timers set kind = 'message_snoozed' where kind = 'letter_snoozed'",
  `update outbox set kind = 'message' || substr(kind, 7),
    payload = replace(payload, '"letterId":', '"messageId":') where kind like 'letter.%'`,
  `update messages set context_ref = 'message' || substr(context_ref, 7)
    where event_type = 'mail.loop_cut' and context_ref like 'letter:%'`,
];

export const mailboxMigrations: readonly Migration[] = [
  { id: "mailbox-0001-letters", statements: (dialect) => ddl(dialect, tables) },
  { id: "mailbox-0002-room", statements: (dialect) => ddl(dialect, room) },
  { id: "mailbox-0003-settled", statements: (dialect) => ddl(dialect, settled) },
  { id: "mailbox-0025-decisions", statements: (dialect) => ddl(dialect, decisions) },
  { id: "mailbox-0025-quiet-done", statements: (dialect) => ddl(dialect, quietDone) },
  { id: "mailbox-0024-references", statements: (dialect) => ddl(dialect, references) },
  { id: "mailbox-0027-contexts", statements: (dialect) => ddl(dialect, contexts) },
  { id: "mailbox-0028-let-through", statements: (dialect) => ddl(dialect, letThrough) },
  {
    id: "mailbox-0029-messages",
    statements: (dialect) => [...renameTable[dialect](), ...renameValues],
  },
];
