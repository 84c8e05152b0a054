/**
 * Fills a database by copying the rows of one session, so that a hundred thousand sessions take
 * seconds.
 */
import { join } from "node:path";
import Database from "better-sqlite3";

/** Archives these copies of a session, with the search index of the original. */
export function archiveCopies(
  home: string,
  sessionId: string,
  { count, archivedAt }: { count: number; archivedAt: number },
): void {
  const db = openFast(join(home, "muster.db"));
  const columns = "kind, at, title, body, marks";
  const documents = db
    .prepare(`select ref, ${columns} from search_documents where ref = ? or ref glob ? || ':*'`)
    .all(sessionId, sessionId) as Rows;
  const insert = db.prepare(
    `insert into search_documents (ref, ${columns}) values (@ref, @kind, @at, @title, @body, @marks)`,
  );
  const cursor = db.prepare(
    "insert into search_cursors select ?, seq from search_cursors where session_id = ?",
  );
  const archive = db.prepare(
    "update sessions set lifecycle = 'archived', archived_at = ? where id = ?",
  );
  db.transaction(() => {
    for (let number = 0; number < count; number++) {
      const id = copyOf(sessionId, number);
      archive.run(archivedAt, id);
      cursor.run(id, sessionId);
      for (const row of documents)
        insert.run({ ...row, ref: String(row.ref).replace(sessionId, id) });
    }
    // Everything is indexed: no change is left for the indexer.
    db.exec("delete from search_changes");
  })();
  db.close();
}

type Rows = Record<string, unknown>[];

/** The tables that hold a session, and the column with the session's id. */
const TABLES = [
  ["sessions", "id"],
  ["threads", "session_id"],
  ["prompts", "session_id"],
  ["runs", "session_id"],
  ["events", "session_id"],
] as const;

const COUNTER_CHARS = 8;
const ID = /\b(?:ses|thr|pmt|run|ent)_[0-9a-z]{26}\b/g;

/** The id of a copy: as long as the original, and sorted by its number. */
export function copyOf(id: string, number: number): string {
  return id.slice(0, -COUNTER_CHARS) + String(number).padStart(COUNTER_CHARS, "0");
}

/** Copies one session with everything that belongs to it. The server must not be running. */
export function copySession(home: string, sessionId: string, from: number, count: number): void {
  const db = openFast(join(home, "muster.db"));
  const copiers = TABLES.flatMap(([table, column]) => {
    const rows = db.prepare(`select * from ${table} where ${column} = ?`).all(sessionId) as Rows;
    return rows.map((row) => rowCopier(db, table, row));
  });
  db.transaction(() => {
    for (let number = from; number < from + count; number++)
      for (const copy of copiers) copy(number);
  })();
  db.close();
}

/** Does the same for the floor. */
export function copyFloorSession(
  home: string,
  state: "accepted" | "settled",
  from: number,
  count: number,
): void {
  const db = openFast(join(home, "floor.db"));
  const session = db.prepare("insert into sessions values (?, 0)");
  const prompt = db.prepare("insert into prompts values (?, ?, 'first', ?, 0, 0, 0)");
  const entry = db.prepare(
    "insert into entries (session_id, prompt_id, text) values (?, ?, 'first')",
  );
  db.transaction(() => {
    for (let number = from; number < from + count; number++) {
      session.run(`s${number}`);
      prompt.run(`p${number}`, `s${number}`, state);
      if (state === "settled") entry.run(`s${number}`, `p${number}`);
    }
  })();
  db.close();
}

function openFast(path: string): Database.Database {
  const db = new Database(path);
  db.pragma("synchronous = OFF");
  db.pragma("cache_size = -200000");
  return db;
}

function rowCopier(
  db: Database.Database,
  table: string,
  row: Record<string, unknown>,
): (number: number) => void {
  const columns = Object.keys(row);
  const marks = columns.map(() => "?").join(", ");
  const insert = db.prepare(`insert into ${table} (${columns.join(", ")}) values (${marks})`);
  const values = Object.values(row);
  const withIds = values.flatMap((value, index) =>
    typeof value === "string" && value.search(ID) >= 0 ? [index] : [],
  );
  return (number) => {
    const copy = [...values];
    for (const index of withIds)
      copy[index] = (values[index] as string).replaceAll(ID, (id) => copyOf(id, number));
    insert.run(copy);
  };
}
