/** SQL on retention settings, and on rows that the kernel's own rules remove. */
import { type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables } from "../schema.ts";
import type { RetentionHoldRow, RetentionSettingRow } from "./retention-schema.ts";

const prepare = statements<KernelTables>();

const selectSettings = prepare<Record<never, never>, RetentionSettingRow>((db) =>
  db.selectFrom("retention_settings").selectAll(),
);
export function listRetentionDays(reader: Reader): Promise<RetentionSettingRow[]> {
  return reader.all(selectSettings, {});
}

const selectHold = prepare<Record<never, never>, Pick<RetentionHoldRow, "until">>((db) =>
  db.selectFrom("retention_hold").select("until").where("id", "=", 1),
);
/** Instant until which a restore holds retention back; 0 for none. */
export async function readHold(reader: Reader): Promise<number> {
  return (await reader.first(selectHold, {}))?.until ?? 0;
}

const upsertSetting = prepare<RetentionSettingRow, unknown>((db, p) =>
  db
    .insertInto("retention_settings")
    .values({ kind: p("kind"), days: p("days"), set_by: p("set_by"), set_at: p("set_at") })
    .onConflict((conflict) =>
      conflict.column("kind").doUpdateSet((eb) => ({
        days: eb.ref("excluded.days"),
        set_by: eb.ref("excluded.set_by"),
        set_at: eb.ref("excluded.set_at"),
      })),
    ),
);
export function saveRetentionDays(tx: Tx, row: RetentionSettingRow): Promise<number> {
  return tx.run(upsertSetting, row);
}

const deleteSetting = prepare<{ kind: string }, unknown>((db, p) =>
  db.deleteFrom("retention_settings").where("kind", "=", p("kind")),
);
/** Restores the default. */
export function forgetRetentionDays(tx: Tx, kind: string): Promise<number> {
  return tx.run(deleteSetting, { kind });
}

/**
 * Statements that delete and count old rows of a table. `condition` is fixed text that selects
 * removable rows; it contains one `?`, the instant before which they are old.
 */
export function oldRows(table: string, condition: string) {
  const text = (dialect: Reader["dialect"], sql: string) => {
    let next = 1;
    return dialect === "sqlite" ? sql : sql.replaceAll("?", () => `$${next++}`);
  };
  const place = { sqlite: "rowid", postgres: "ctid" } as const;
  return {
    prune(tx: Tx, before: number, rows: number): Promise<number> {
      const id = place[tx.dialect];
      const some = `select ${id} from ${table} where ${condition} limit ?`;
      const sql =
        tx.dialect === "sqlite"
          ? `delete from ${table} where rowid in (${some})`
          : `delete from ${table} where ctid = any(array(${some}))`;
      return tx.execute({ sql: text(tx.dialect, sql), parameters: [before, rows] });
    },
    async countDue(reader: Reader, before: number, limit: number): Promise<number> {
      const sql = `select count(*) as n from (select 1 from ${table} where ${condition} limit ?) due`;
      const parameters = [before, limit];
      const [row] = await reader.query<{ n: number }>({
        sql: text(reader.dialect, sql),
        parameters,
      });
      return Number(row?.n ?? 0);
    },
  };
}
