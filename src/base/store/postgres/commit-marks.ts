/**
 * Marks of commits on PostgreSQL: one row per connection, with the number of its last transaction that
 * wrote. Connections come and go, so rows of those that are gone are deleted now and then.
 */
import type pg from "pg";

/** Room on each page, so that a mark is overwritten in place. */
export const MARKS_TABLE =
  "create table if not exists commit_marks (id bigint primary key, mark bigint not null, at timestamptz not null) with (fillfactor = 20)";

/** A mark is only asked for within seconds of its commit. A connection that rested longer writes a new one. */
const OLD = "at < now() - interval '1 day'";
const AT_ONCE = 1_000;
const CLEAR_EVERY_MS = 10 * 60_000;

export function writeMark(id: number, mark: number): string {
  return `insert into commit_marks (id, mark, at) values (${id}, ${mark}, now()) on conflict (id) do update set mark = excluded.mark, at = excluded.at`;
}

/** Deletes old marks, some at a time, when connections are made: each of them leaves one. */
export class MarkCleaner {
  readonly #instant: () => number;
  #clearedAt = Number.NEGATIVE_INFINITY;

  constructor(instant: () => number) {
    this.#instant = instant;
  }

  /** Nobody waits for it, and a failure is made up for by the next one. */
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
