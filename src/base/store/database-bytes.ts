import { sql } from "kysely";
import { statements } from "./statement.ts";
import type { Reader } from "./store.ts";

const prepare = statements<Record<never, never>>();

const selectBytes = prepare<Record<never, never>, { bytes: number }>((db, _p, dialect) =>
  db.selectNoFrom(
    dialect === "sqlite"
      ? sql<number>`(select page_count * page_size from pragma_page_count(), pragma_page_size())`.as(
          "bytes",
        )
      : sql<number>`pg_database_size(current_database())`.as("bytes"),
  ),
);

/** The size of the database on disk, free pages included; SQLite's log of changes is not counted. */
export async function databaseBytes(reader: Reader): Promise<number> {
  return (await reader.first(selectBytes, {}))?.bytes ?? 0;
}
