/**
 * Commit marks on PostgreSQL: one row per connection, with the number of its last transaction that
 * wrote. Connections come and go, so old rows are deleted now and then.
 */
import type pg from "pg";

/** The fill factor leaves room on each page, so that a mark is updated in place. */
export const MARKS_TABLE =
  "create table if not exists commit_marks (id bigint primary key, mark bigint not null, at timestamptz not null) with (fillfactor = 20)";

/**
 * Age after which a mark is useless: it is only read within seconds of its commit, and a connection
 * that was idle for longer writes a new one.
 */
const OLD = "at < now() - interval '1 day'";
const AT_ONCE = 1_000;
const CLEAR_EVERY_MS = 10 * 60_000;

export function writeMark(id: number, mark: number): string {
  return `insert into commit_marks (id, mark, at) values (${id}, ${mark}, now()) on conflict (id) do update set mark = excluded.mark, at = excluded.at`;
}

/** Deletes old marks in batches when connections are opened, since each connection leaves one. */
export class MarkCleaner {
  readonly #instant: () => number;
  #clearedAt = Number.NEGATIVE_INFINITY;

  constructor(instant: () => number) {
    this.#instant = instant;
  }

  /** Not awaited; the next call makes up for a failure. */
  clearNowAndThen(pool: pg.Pool): void {
    if (this.#instant() - this.#clearedAt < CLEAR_EVERY_MS) return;
    this.#clearedAt = this.#instant();
    pool
      .query(
        `delete from commit_marks where ctid = any(array(select ctid from commit_marks where ${OLD} limit ${AT_ONCE}))`,
      )
      .catch(() => {});
  }
}
