/**
 * A database of an earlier version, whose messages are rows of `letters` with ids `ltr_…` and search
 * documents of the kind `letter`: after the upgrade they are found, read and answered.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "#base/clock.ts";
import { silentLog as log } from "#base/log.ts";
import { type Migration, openStore, type Store } from "#base/store/index.ts";
import { kernelMigrations, type Searchable } from "#engine/index.ts";
import { runDueTimers } from "#engine/timers/index.ts";
import { insertUser } from "#features/auth/index.ts";
import type { MailMessage } from "#features/mailbox/contract.ts";
import { createMailbox } from "#features/mailbox/index.ts";
import { member, type User } from "#features/testing/index.ts";
import { createTestDatabase, postgresUrl, type TestDatabase } from "#test/services/postgres.ts";
import { FakeLibrary, libraryFeatures } from "../fake-library.ts";
import { addDocument, dropChanges, listChanges } from "../queries.ts";
import { searchMigrations } from "../schema.ts";
import { documentOf } from "./document.ts";

const ann: User = { ...member, userId: "usr_ann", name: "Ann" };
const bob: User = { ...member, userId: "usr_bob", name: "Bob" };
const LATER = 4_000_000_000_000;

/** Migrations of the version before the rename; its search watched the table `letters`. */
function formerMigrations(): Migration[] {
  const [present] = createMailbox().searchable as [Searchable];
  const { formerly: _, ...rest } = present;
  const former = searchMigrations([{ ...rest, kind: "letter", table: "letters" }]);
  const byId = new Map(former.map((one) => [one.id, one]));
  return [...kernelMigrations, ...libraryFeatures().features.flatMap((one) => one.migrations ?? [])]
    .filter(({ id }) => id !== "mailbox-0029-messages" && !id.startsWith("search-message-"))
    .map((one) => byId.get(one.id) ?? one);
}

interface FormerRow {
  id: string;
  content: string;
  threadId?: string;
  snoozedUntil?: number;
  event?: string;
  ref?: string;
}

const sql = (text: string) => ({ sql: text, parameters: [] });
const quoted = (value: string | number | undefined) =>
  value === undefined ? "null" : typeof value === "number" ? value : `'${value}'`;

/** Bob's message to Ann, as the earlier version stored it. */
function formerInsert({ id, content, threadId = id, snoozedUntil, event, ref }: FormerRow): string {
  return `insert into letters (id, org_id, thread_id, from_user_id, from_owner_id, from_name,
      to_user_id, to_owner_id, to_name, message_type, event_type, content, context_ref, hops, fate,
      snoozed_until, surfaced_at, created_at)
    values ('${id}', 'org_1', '${threadId}', 'usr_bob', 'usr_bob', 'Bob', 'usr_ann', 'usr_ann', 'Ann',
      'notification', ${quoted(event)}, '${content}', ${quoted(ref)}, 0, 'delivered',
      ${quoted(snoozedUntil)}, 1000, 1000)`;
}

async function fillFormer(store: Store): Promise<void> {
  await store.transaction(async (tx) => {
    await tx.execute(
      sql("insert into orgs (id, name, slug, created_at) values ('org_1', 'Crew', 'crew', 1)"),
    );
    for (const { userId: id, orgId: org_id, name } of [ann, bob])
      await insertUser(tx, {
        ...{ id, org_id, name, email: null, role: "member", timezone: "UTC", locale: "en" },
        created_at: 1,
      });
    const first = { id: "ltr_first", content: "The quokka is fed" };
    await tx.execute(sql(formerInsert(first)));
    await tx.execute(sql(formerInsert({ id: "ltr_next", content: "Again", threadId: first.id })));
    const document = documentOf("letter", {
      id: first.id,
      orgId: "org_1",
      readers: ["usr_bob", "usr_ann"],
      title: "Bob → Ann",
      text: first.content,
      at: 1000,
      url: "/inbox/ltr_first",
    });
    if (document) await addDocument(tx, document);
    await dropChanges(tx, await listChanges(tx, 100));
    // The indexer had not come to this one.
    await tx.execute(sql(formerInsert({ id: "ltr_unseen", content: "The numbat sleeps" })));
    await tx.execute(
      sql(formerInsert({ id: "ltr_snoozed", content: "Later", snoozedUntil: LATER })),
    );
    await tx.execute(
      sql(
        formerInsert({
          ...{ id: "ltr_cut", content: "Cut", event: "mail.loop_cut", ref: "letter:ltr_first" },
        }),
      ),
    );
    await tx.execute(
      sql(`insert into timers (id, org_id, kind, subject, due_at)
        values ('tmr_1', 'org_1', 'letter_snoozed', 'ltr_snoozed', ${LATER})`),
    );
    await tx.execute(
      sql(`insert into outbox (id, org_id, kind, cause_key, payload, state, attempts, due_at, created_at)
        values ('out_1', 'org_1', 'letter.slack', 'letter:ltr_first:1000:slack',
          '{"letterId":"ltr_first","userId":"usr_ann"}', 'pending', 0, ${LATER}, 1)`),
    );
    await tx.execute(
      sql("insert into inboxes (org_id, user_id, unread) values ('org_1', 'usr_ann', 4)"),
    );
  });
}

const NAMES = {
  sqlite: `select name from sqlite_master where tbl_name in ('letters', 'messages') and type <> 'trigger'
    union all select name from sqlite_master where type = 'trigger' and tbl_name = 'messages'`,
  postgres: `select relname as name from pg_index join pg_class on pg_class.oid = indexrelid
      where indrelid = 'messages'::regclass
    union all select conname from pg_constraint where conrelid = 'messages'::regclass
    union all select tgname from pg_trigger where tgrelid = 'messages'::regclass and not tgisinternal`,
} as const;

/** Names of the table's indexes, constraints and triggers. */
async function namesIn(library: FakeLibrary): Promise<string[]> {
  const rows = await library.rows(NAMES[library.world.kernel.engine.store.dialect]);
  return rows.map(({ name }) => String(name)).sort();
}

function suite(title: string, database: () => Promise<TestDatabase | undefined>): void {
  describe(title, () => {
    const folder = mkdtempSync(join(tmpdir(), "muster-former-"));
    let made: TestDatabase | undefined;
    let library: FakeLibrary;
    beforeAll(async () => {
      made = await database();
      const url = made?.url ?? `sqlite:${join(folder, "muster.db")}`;
      const store = await openStore({ url, clock: systemClock, log, onSyncFailure: () => {} });
      await store.migrate(formerMigrations());
      await fillFormer(store);
      await store.close();
      library = await FakeLibrary.open(url);
    });
    afterAll(async () => {
      await library.world.stop();
      await made?.drop();
      rmSync(folder, { recursive: true, force: true });
    });

    const get = (path: string) =>
      library.world.call<{ message: MailMessage; items: MailMessage[] }>(ann, "GET", path);

    it("finds them, and keeps no document of the former kind", async () => {
      for (const [word, id] of [
        ["quokka", "ltr_first"],
        ["numbat", "ltr_unseen"],
      ] as const) {
        const { items } = await library.find(ann, word, { kinds: "message" });
        expect(items).toMatchObject([{ kind: "message", id, url: `/inbox/${id}` }]);
      }
      expect(await library.rows("select id from search_documents where kind = 'letter'")).toEqual(
        [],
      );
    });

    it("reads, changes and answers them by the ids they had", async () => {
      expect((await get("/api/me/inbox/ltr_first")).message.content).toBe("The quokka is fed");
      const body = { content: "Thanks from Ann" };
      const path = "/api/me/inbox/ltr_first/reply";
      const { message } = await library.world.call<{ message: MailMessage }>(
        ann,
        "POST",
        path,
        body,
      );
      expect(message).toMatchObject({ threadId: "ltr_first", replyToId: "ltr_first" });
      expect(message.id).toMatch(/^msg_/);
      const thread = await get("/api/me/inbox-threads/ltr_first");
      expect(thread.items.map(({ id }) => id)).toEqual(["ltr_first", "ltr_next", message.id]);
      await library.world.call(ann, "PATCH", "/api/me/inbox/ltr_next", { archived: true });
      const archived = await get("/api/me/inbox?box=archived");
      expect(archived.items.map(({ id }) => id)).toEqual(["ltr_next"]);
      const { items } = await library.find(bob, "thanks", { kinds: "message" });
      expect(items.map(({ id }) => id)).toEqual([message.id]);
    });

    it("has a snoozed one come back, and other rows name it by the new word", async () => {
      const { engine } = library.world.kernel;
      expect((await get("/api/me/inbox?box=snoozed")).items).toHaveLength(1);
      await runDueTimers(engine, createMailbox().timers ?? {}, LATER + 1);
      expect((await get("/api/me/inbox?box=snoozed")).items).toEqual([]);
      expect((await get("/api/me/inbox/ltr_snoozed")).message.read).toBe(false);
      expect((await get("/api/me/inbox/ltr_cut")).message.contextRef).toBe("message:ltr_first");
      const [waiting] = await library.rows("select kind, payload from outbox where id = 'out_1'");
      expect(waiting?.kind).toBe("message.slack");
      expect(JSON.parse(String(waiting?.payload))).toEqual({
        messageId: "ltr_first",
        userId: "usr_ann",
      });
    });

    it("has the same indexes as a new database", async () => {
      const other = await database();
      const fresh = await FakeLibrary.open(other?.url);
      const names = await namesIn(library);
      expect(names).toEqual(await namesIn(fresh));
      expect(names).toContain("messages_inbox");
      expect(names.filter((name) => name.includes("letter"))).toEqual([]);
      await fresh.world.stop();
      await other?.drop();
    });
  });
}

suite("messages of an earlier version on SQLite", async () => undefined);
describe.skipIf(!postgresUrl)("with a server", () => {
  suite("messages of an earlier version on PostgreSQL", createTestDatabase);
});
