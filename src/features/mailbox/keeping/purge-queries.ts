/** SQL that takes letters away: those of a removed person, and those that are old. */
import { builder, type Tx } from "#base/store/index.ts";
import { oldRows, type Person } from "#engine/index.ts";
import type { MailboxTables } from "../schema.ts";

/** Letters to them; how many went. */
export function deleteLettersTo(tx: Tx, { orgId, userId }: Person, limit: number): Promise<number> {
  const db = builder<MailboxTables>(tx.dialect);
  return tx.execute(
    db
      .deleteFrom("letters")
      .where("id", "in", (eb) =>
        eb
          .selectFrom("letters")
          .select("id")
          .where("to_user_id", "=", userId)
          .where("org_id", "=", orgId)
          .limit(limit),
      )
      .compile(),
  );
}

/** What they and their agents wrote and others have; how many it was. */
export function blankLettersFrom(
  tx: Tx,
  { orgId, userId }: Person,
  name: string,
  content: string,
  limit: number,
): Promise<number> {
  const db = builder<MailboxTables>(tx.dialect);
  return tx.execute(
    db
      .updateTable("letters")
      .set({
        content,
        from_name: name,
        from_handle: null,
        // Whoever writes says what it is about, in any words.
        context_session_id: null,
        context_task_id: null,
        context_ref: null,
      })
      .where("id", "in", (eb) =>
        eb
          .selectFrom("letters")
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

/** Takes deleted tasks out of the letters that were about them. */
export async function forgetTasks(tx: Tx, taskIds: readonly string[]): Promise<void> {
  for (let at = 0; at < taskIds.length; at += TASKS_AT_ONCE)
    await tx.execute(
      builder<MailboxTables>(tx.dialect)
        .updateTable("letters")
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

/** Letters that were archived, or else read, before an instant. What is snoozed comes back first. */
export const settledLetters = oldRows(
  "letters",
  "coalesce(archived_at, read_at) is not null and coalesce(archived_at, read_at) < ? and snoozed_until is null",
);
