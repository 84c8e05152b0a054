/** SQL that deletes or blanks messages: those of a removed person, and old ones. */
import { builder, type Tx } from "#base/store/index.ts";
import { oldRows, type Person } from "#engine/index.ts";
import type { MailboxTables } from "../schema.ts";

/** Deletes messages to a person, and returns their number. */
export function deleteMessagesTo(
  tx: Tx,
  { orgId, userId }: Person,
  limit: number,
): Promise<number> {
  const db = builder<MailboxTables>(tx.dialect);
  return tx.execute(
    db
      .deleteFrom("messages")
      .where("id", "in", (eb) =>
        eb
          .selectFrom("messages")
          .select("id")
          .where("to_user_id", "=", userId)
          .where("org_id", "=", orgId)
          .limit(limit),
      )
      .compile(),
  );
}

/** Blanks messages that a person and their agents sent to others, and returns their number. */
export function blankMessagesFrom(
  tx: Tx,
  { orgId, userId }: Person,
  name: string,
  content: string,
  limit: number,
): Promise<number> {
  const db = builder<MailboxTables>(tx.dialect);
  return tx.execute(
    db
      .updateTable("messages")
      .set({
        content,
        from_name: name,
        from_handle: null,
        // The sender chose these references, so they may contain any words.
        context_session_id: null,
        context_task_id: null,
        context_ref: null,
      })
      .where("id", "in", (eb) =>
        eb
          .selectFrom("messages")
          .select("id")
          .where("from_owner_id", "=", userId)
          .where("org_id", "=", orgId)
          .where((is) => is.or([is("from_name", "<>", name), is("content", "<>", content)]))
          .limit(limit),
      )
      .compile(),
  );
}

const TASKS_AT_ONCE = 500;

/** Clears deleted tasks from the messages that refer to them. */
export async function forgetTasks(tx: Tx, taskIds: readonly string[]): Promise<void> {
  for (let at = 0; at < taskIds.length; at += TASKS_AT_ONCE)
    await tx.execute(
      builder<MailboxTables>(tx.dialect)
        .updateTable("messages")
        .set({ context_task_id: null })
        .where("context_task_id", "in", taskIds.slice(at, at + TASKS_AT_ONCE))
        .compile(),
    );
}

export function deleteInbox(tx: Tx, { orgId, userId }: Person): Promise<number> {
  const db = builder<MailboxTables>(tx.dialect);
  return tx.execute(
    db.deleteFrom("inboxes").where("org_id", "=", orgId).where("user_id", "=", userId).compile(),
  );
}

/** Messages archived, or else read, before an instant. Snoozed messages return first. */
export const settledMessages = oldRows(
  "messages",
  "coalesce(archived_at, read_at) is not null and coalesce(archived_at, read_at) < ? and snoozed_until is null",
);
