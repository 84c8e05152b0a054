/**
 * Searching a million entries, in a process of its own: 5,000 sessions of one person, searched for
 * one to four words through the route, without HTTP. Half of the queries are words that occur side
 * by side somewhere; the rest are any words. Prints one JSON object, in milliseconds.
 *
 *   node search-load.ts FOLDER
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { inserter, type Tx } from "#base/store/index.ts";
import type { KernelTables, SessionRow } from "#engine/index.ts";
import { findSession } from "#engine/sessions/index.ts";
import { createSearch } from "#features/search/index.ts";
import { documentOf } from "#features/search/indexing/document.ts";
import { indexLog } from "#features/search/indexing/index-log.ts";
import { entryFound } from "#features/search/indexing/sources.ts";
import { addDocument, mergeIndex, saveCursor } from "#features/search/queries.ts";
import { percentile } from "./figure.ts";
import { openKernel, owner } from "./own-kernel.ts";

type EventRow = KernelTables["events"];

const SESSIONS = 5_000;
const ENTRIES = 200;
const SEARCHES = 400;
const IN_ONE_COMMIT = 10;
const MERGED_PAGES = 200;
const VOCABULARY = 50_000;
/** Sessions indexed as the server does it, to measure each of its transactions. */
const AS_USUAL = 40;

const [folder = "."] = process.argv.slice(2);
const { store, kernel } = await openKernel(folder, [createSearch([])]);

let state = 1;
/** Pseudo-random numbers, the same in each run. */
function roll(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 4_294_967_296;
}
const MESSAGES = "etaoinshrdlcumwfgypbvk";
const spellings = Array.from({ length: VOCABULARY }, () =>
  Array.from(
    { length: 2 + Math.floor(roll() * 8) },
    () => MESSAGES[Math.floor(roll() ** 2 * MESSAGES.length)],
  ).join(""),
);
/** Few words are common and many are rare, as in any language. */
const word = () => spellings[Math.floor(VOCABULARY ** roll()) - 1] as string;
const words = (count: number) => Array.from({ length: count }, word).join(" ");

const entryRow = (session: SessionRow, seq: number): EventRow => ({
  session_id: session.id,
  seq,
  org_id: session.org_id,
  type: "message",
  v: 1,
  at: session.created_at + seq,
  thread: "main",
  prompt_id: null,
  run_id: null,
  entry_id: `ent_${session.id}_${seq}`,
  kind: "text",
  role: "assistant",
  content: JSON.stringify([{ type: "text", text: words(8 + Math.floor(roll() * 60)) }]),
  tool_name: null,
  tool_input: null,
  tool_output: null,
  error: null,
  exit_code: null,
  reason: null,
  data: null,
  redacted_at: null,
});

const { id: firstId } = await kernel.sessions.create(owner, { title: "First" });
const first = (await store.read((reader) => findSession(reader, firstId))) as SessionRow;
const insertSessions = inserter<SessionRow>("sessions", Object.keys(first) as never);
const columns = Object.keys(entryRow(first, 1)) as (keyof EventRow)[];
const insertEvents = inserter<EventRow>("events", columns);

async function addSession(tx: Tx, n: number): Promise<{ session: SessionRow; rows: EventRow[] }> {
  const id = `ses_bench_${String(n).padStart(6, "0")}`;
  const session = { ...first, id, root_session_id: id, title: words(4), last_seq: ENTRIES };
  await tx.execute(insertSessions(tx.dialect, [session]));
  const rows = Array.from({ length: ENTRIES }, (_, at) => entryRow(session, at + 1));
  for (let from = 0; from < rows.length; from += 100)
    await tx.execute(insertEvents(tx.dialect, rows.slice(from, from + 100)));
  return { session, rows };
}

/** Writes what the indexer would write, in larger transactions. */
async function addDocuments(tx: Tx, session: SessionRow, rows: readonly EventRow[]) {
  for (const row of rows) {
    const found = entryFound(session, row);
    const document = found && documentOf("transcript", found);
    if (document) await addDocument(tx, document);
  }
  await saveCursor(tx, session.id, ENTRIES);
}

async function fill(): Promise<void> {
  for (let n = 0; n < SESSIONS - AS_USUAL; n += IN_ONE_COMMIT)
    await store.transaction(async (tx) => {
      for (let at = n; at < n + IN_ONE_COMMIT; at++) {
        const { session, rows } = await addSession(tx, at);
        await addDocuments(tx, session, rows);
      }
      await mergeIndex(tx, MERGED_PAGES * IN_ONE_COMMIT);
    });
}

async function indexAsUsual(): Promise<number[]> {
  const took: number[] = [];
  for (let n = SESSIONS - AS_USUAL; n < SESSIONS; n++) {
    const { session } = await store.transaction((tx) => addSession(tx, n));
    for (let isDone = false; !isDone; ) {
      const startedAt = performance.now();
      isDone = await indexLog(kernel.engine, session.id);
      took.push(performance.now() - startedAt);
    }
  }
  return took;
}

async function question(n: number): Promise<string> {
  const count = 1 + (n % 4);
  if (n % 2 === 0) return words(count);
  const id = `ses_bench_${String(Math.floor(roll() * SESSIONS)).padStart(6, "0")}`;
  const seq = 1 + Math.floor(roll() * ENTRIES);
  const sql = "select content from events where session_id = ? and seq = ?";
  const [row] = await store.read((reader) =>
    reader.query<{ content: string }>({ sql, parameters: [id, seq] }),
  );
  const [{ text }] = JSON.parse(row?.content ?? "[]") as [{ text: string }];
  return text.split(" ").slice(0, count).join(" ");
}

const route = kernel.routes.find(({ path }) => path === "/api/search");
if (!route) throw new Error("there is no route for searching");
const ask = async (q: string) =>
  (await route.handle({
    engine: kernel.engine,
    principal: owner,
    params: {},
    query: { q, limit: 20 } as never,
    body: {} as never,
    idempotency: undefined,
  })) as { items: unknown[] };

await fill();
const indexing = await indexAsUsual();
await ask("warm up");
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const took: number[] = [];
let found = 0;
for (let n = 0; n < SEARCHES; n++) {
  const q = await question(n);
  const startedAt = performance.now();
  const { items } = await ask(q);
  took.push(performance.now() - startedAt);
  if (items.length > 0) found += 1;
}
delay.disable();
process.stdout.write(
  `${JSON.stringify({
    p50Ms: percentile(took, 50),
    p95Ms: percentile(took, 95),
    maxMs: Math.max(...took),
    foundShare: found / SEARCHES,
    loopP99Ms: delay.percentile(99) / 1e6,
    indexP50Ms: percentile(indexing, 50),
    indexP99Ms: percentile(indexing, 99),
  })}\n`,
);
await kernel.stop();
await store.close();
process.exit(0);
