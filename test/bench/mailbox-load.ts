/**
 * An inbox of 100,000 messages, half of them unread, read through its routes without HTTP, in a
 * process of its own. Prints one JSON object.
 *
 *   node mailbox-load.ts FOLDER TIMES
 */
import { createIds } from "#base/ids.ts";
import { inserter, type Store } from "#base/store/index.ts";
import type { Route } from "#engine/index.ts";
import { createMailbox, type InboxRow, type MessageRow } from "#features/mailbox/index.ts";
import { createOrchestrators } from "#features/orchestrators/index.ts";
import { percentile } from "./figure.ts";
import { openKernel, owner } from "./own-kernel.ts";

const MESSAGES = 100_000;
const UNREAD = MESSAGES / 2;
const ROWS_AT_ONCE = 500;
const [folder = ".", times = "200"] = process.argv.slice(2);
const ids = createIds();

/** Every other message is unread; one of ten is archived as well. */
function rowOf(at: number): MessageRow {
  const id = ids.mint("msg");
  const isRead = at % 2 === 0;
  return {
    id,
    org_id: "org_1",
    thread_id: id,
    reply_to_id: null,
    from_session_id: `ses_${at % 500}`,
    from_user_id: null,
    from_owner_id: "usr_1",
    from_name: "Otter counter",
    from_handle: null,
    from_thread: "main",
    to_session_id: null,
    to_user_id: "usr_1",
    to_owner_id: "usr_1",
    to_name: "owner",
    to_handle: null,
    to_thread: null,
    message_type: at % 4 === 1 ? "question" : "notification",
    event_type: null,
    content: "What its agent has to say about the otters. ".repeat(8),
    context_session_id: `ses_${at % 500}`,
    context_task_id: null,
    context_ref: null,
    decision: null,
    let_through_at: null,
    hops: 0,
    fate: "delivered",
    fate_reason: null,
    prompt_id: null,
    read_at: isRead ? at : null,
    archived_at: at % 10 === 0 ? at : null,
    snoozed_until: null,
    surfaced_at: at,
    cause_key: null,
    created_at: at,
  };
}

async function fill(store: Store): Promise<void> {
  const insertMessages = inserter<MessageRow>(
    "messages",
    Object.keys(rowOf(0)) as (keyof MessageRow)[],
  );
  const insertInbox = inserter<InboxRow>("inboxes", ["org_id", "user_id", "unread"]);
  for (let from = 0; from < MESSAGES; from += ROWS_AT_ONCE) {
    const rows = Array.from({ length: ROWS_AT_ONCE }, (_, at) => rowOf(from + at));
    await store.transaction((tx) => tx.execute(insertMessages(tx.dialect, rows)));
  }
  const inbox = { org_id: "org_1", user_id: "usr_1", unread: UNREAD };
  await store.transaction((tx) => tx.execute(insertInbox(tx.dialect, [inbox])));
}

const { store, kernel } = await openKernel(folder, [createOrchestrators(), createMailbox()]);
await fill(store);

function routeOf(path: string): Route {
  const route = kernel.routes.find((one) => one.path === path && one.method === "get");
  if (!route) throw new Error(`there is no route ${path}`);
  return route;
}

async function time<T>(route: Route, query: object, check: (answer: T) => boolean) {
  const request = {
    engine: kernel.engine,
    principal: owner,
    params: {},
    query: query as never,
    body: {} as never,
    idempotency: undefined,
  };
  const took: number[] = [];
  for (let round = 0; round < Number(times); round++) {
    const startedAt = performance.now();
    const answer = (await route.handle(request)) as T;
    took.push(performance.now() - startedAt);
    if (!check(answer)) throw new Error(`${route.path} answered ${JSON.stringify(answer)}`);
  }
  return { p50Ms: percentile(took, 50), p95Ms: percentile(took, 95) };
}

const count = await time<{ count: number }>(
  routeOf("/api/me/inbox/count"),
  {},
  (answer) => answer.count === UNREAD,
);
const page = await time<{ items: unknown[] }>(
  routeOf("/api/me/inbox"),
  { box: "inbox", limit: 50 },
  ({ items }) => items.length === 50,
);
await kernel.stop();
await store.close();
process.stdout.write(JSON.stringify({ count, page }));
