/** Every list of an inbox is served by an index and reads no more rows than it shows. */
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Reader } from "#base/store/index.ts";
import { createOrchestrators } from "#features/orchestrators/index.ts";
import { startWorld, type World } from "#features/testing/index.ts";
import { countUnreadBetween, listSessionMessages } from "../agents/agent-queries.ts";
import type { MailFolder } from "../contract.ts";
import { createMailbox } from "../index.ts";
import { listMessages, listThread, listUnread, type MessageFilter } from "./inbox-queries.ts";

const person = { orgId: "org_1", userId: "usr_1" };
const page = { after: { at: 5, id: "msg_5" }, limit: 50 };
let world: World;
beforeAll(async () => {
  world = await startWorld([createOrchestrators(), createMailbox()]);
});
afterAll(() => world.stop());

/** SQLite's query plan. */
function planOf(ask: (reader: Reader) => Promise<unknown>): Promise<string> {
  return world.kernel.engine.store.read(async (reader) => {
    let plan = "";
    const asked: Pick<Reader, "dialect" | "query"> = {
      dialect: reader.dialect,
      async query({ sql, parameters }) {
        const rows = await reader.query<{ detail: string }>({
          sql: `explain query plan ${sql}`,
          parameters,
        });
        plan = rows.map(({ detail }) => detail).join("\n");
        return [];
      },
    };
    await ask(asked as Reader);
    return plan;
  });
}

it.each<[MailFolder, MessageFilter, string]>([
  ["inbox", {}, "messages_inbox (to_user_id=? AND surfaced_at<?)"],
  ["inbox", { unreadOnly: true }, "messages_unread (to_user_id=? AND surfaced_at<?)"],
  ["inbox", { messageType: "question" }, "messages_to_user_type (to_user_id=? AND message_type=?"],
  ["inbox", { fromSessionId: "s" }, "messages_to_user_from (to_user_id=? AND from_session_id=?"],
  ["inbox", { fromUserId: "u" }, "messages_to_user_person (to_user_id=? AND from_user_id=?"],
  ["inbox", { contextSessionId: "s" }, "messages_to_user_about (to_user_id=? AND context_sess"],
  ["inbox", { contextTaskId: "t" }, "messages_to_user_task (to_user_id=? AND context_task_id=?"],
  ["snoozed", {}, "messages_snoozed (to_user_id=? AND snoozed_until>?"],
  ["archived", {}, "messages_archived (to_user_id=? AND archived_at>? AND archived_at<?)"],
  ["sent", {}, "messages_sent (from_user_id=? AND created_at<?)"],
  ["all", {}, "messages_to_user (to_user_id=? AND created_at<?)"],
])("finds %s with %o", async (box, filter, index) => {
  const plan = await planOf((reader) => listMessages(reader, person, box, filter, page));
  expect(plan).toContain(index);
  expect(plan).not.toContain("TEMP B-TREE");
});

it.each([
  ["session", "user", "messages_unread_from (to_user_id=? AND from_session_id=?)"],
  ["user", "user", "messages_unread_from (to_user_id=? AND from_session_id=? AND from_user_id=?)"],
  ["session", "session", "messages_untold_from (to_session_id=? AND from_session_id=?)"],
  ["user", "session", "messages_untold_from (to_session_id=? AND from_session_id=? AND from_user"],
] as const)("counts what a %s has lying with a %s", async (from, to, index) => {
  const between = { from: { kind: from, id: "a" }, to: { kind: to, id: "b" } };
  expect(await planOf((reader) => countUnreadBetween(reader, between, 20))).toContain(index);
});

it("finds a session's messages", async () => {
  const filter = { sessionId: "s", before: page.after, limit: 50 };
  const all = await planOf((reader) =>
    listSessionMessages(reader, { ...filter, unreadOnly: false }),
  );
  expect(all).toContain("messages_to_session (to_session_id=? AND created_at<?)");
  expect(all).not.toContain("TEMP B-TREE");
});

it("finds an exchange, and what is unread", async () => {
  const thread = await planOf((reader) => listThread(reader, person, "msg_1", page));
  expect(thread).toContain("messages_thread (thread_id=? AND created_at>?)");
  const wanted = { types: undefined, until: 9, ...page };
  const unread = await planOf((reader) => listUnread(reader, person, wanted));
  expect(unread).toContain("messages_unread (to_user_id=? AND surfaced_at>? AND surfaced_at<?)");
});
