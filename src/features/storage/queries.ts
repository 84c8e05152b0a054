/**
 * SQL on the size of the database. Every statement reads a bounded number of pages, so that other readers
 * never wait long.
 */
import type { Reader } from "#base/store/index.ts";
import { sizesOf, type TableSize, type Tree } from "./table-sizes.ts";

/** Pages of a table or an index to read; sizes of larger ones are extrapolated. */
const MAX_PAGES = 2_000;

export interface DatabaseSize {
  bytes: number;
  freeBytes: number | null;
  tables: TableSize[];
}

export function readSizes(reader: Reader): Promise<DatabaseSize> {
  return reader.dialect === "sqlite" ? sqliteSizes(reader) : postgresSizes(reader);
}

const ask = <R>(reader: Reader, sql: string, parameters: unknown[] = []) =>
  reader.query<R>({ sql, parameters });

async function sqliteSizes(reader: Reader): Promise<DatabaseSize> {
  const [file] = await ask<{ pages: number; size: number; free: number }>(
    reader,
    `select page_count as pages, page_size as size, freelist_count as free
      from pragma_page_count, pragma_page_size, pragma_freelist_count`,
  );
  const { pages = 0, size = 0, free = 0 } = file ?? {};
  const found = await ask<{ name: string; table: string; type: string }>(
    reader,
    `select name, tbl_name as "table", type from sqlite_master where rootpage > 0`,
  );
  const trees: Tree[] = [];
  const rowsOf = new Map<string, number>();
  for (const { name, table, type } of found) {
    const tree = await readTree(reader, { name, table, isTable: type === "table" });
    trees.push(tree);
    if (tree.isTable && !tree.isWhole) rowsOf.set(table, await countAbout(reader, table));
  }
  const tables = sizesOf(trees, rowsOf, (pages - free) * size);
  return { bytes: pages * size, freeBytes: free * size, tables };
}

async function readTree(
  reader: Reader,
  tree: Pick<Tree, "name" | "table" | "isTable">,
): Promise<Tree> {
  const [row] = await ask<{ pages: number; bytes: number | null; cells: number | null }>(
    reader,
    `select count(*) as pages, sum(pgsize) as bytes, sum(ncell) as cells
      from (select pgsize, case when pagetype = 'leaf' then ncell else 0 end as ncell
        from dbstat where name = ? limit ?)`,
    [tree.name, MAX_PAGES],
  );
  const { pages = 0, bytes, cells } = row ?? {};
  return { ...tree, bytes: bytes ?? 0, cells: cells ?? 0, isWhole: pages < MAX_PAGES };
}

/** Counts the rows between the first and the last id, including deleted ones. */
async function countAbout(reader: Reader, table: string): Promise<number> {
  const quoted = `"${table.replaceAll('"', '""')}"`;
  const [row] = await ask<{ n: number | null }>(
    reader,
    `select (select max(rowid) from ${quoted}) - (select min(rowid) from ${quoted}) + 1 as n`,
  );
  return row?.n ?? 0;
}

async function postgresSizes(reader: Reader): Promise<DatabaseSize> {
  const [all] = await ask<{ bytes: unknown }>(
    reader,
    "select pg_database_size(current_database()) as bytes",
  );
  const rows = await ask<{ table: string; bytes: unknown; rows: unknown }>(
    reader,
    `select relname as "table", pg_total_relation_size(oid) as bytes,
      greatest(reltuples, 0)::bigint as rows
      from pg_class where relkind = 'r' and relnamespace = current_schema()::regnamespace`,
  );
  const tables = rows.map(({ table, bytes, rows: count }) => ({
    table,
    rows: Number(count),
    bytes: Number(bytes),
    // The size is exact; the row count is from the last analysis.
    isEstimate: true,
  }));
  return { bytes: Number(all?.bytes ?? 0), freeBytes: null, tables };
}

export interface LongLog {
  id: string;
  owner_id: string | null;
  lifecycle: string;
  last_seq: number;
}
export function listLongLogs(reader: Reader, orgId: string, limit: number): Promise<LongLog[]> {
  const [org, count] = reader.dialect === "sqlite" ? ["?", "?"] : ["$1", "$2"];
  return ask<LongLog>(
    reader,
    `select id, owner_id, lifecycle, last_seq from sessions where org_id = ${org}
      order by last_seq desc, id limit ${count}`,
    [orgId, limit],
  );
}
