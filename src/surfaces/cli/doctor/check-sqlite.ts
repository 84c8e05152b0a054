import { existsSync, statSync } from "node:fs";
import type { Migration } from "#base/store/index.ts";
import {
  findDamage,
  findLockHolder,
  openReadOnly,
  readSchemaState,
} from "../database/sqlite-file.ts";
import { formatBytes } from "../kit/text/terminal.ts";
import { checkSchema } from "./check-schema.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const NAME = "database";

export function checkSqlite(path: string, migrations: readonly Migration[]): Finding[] {
  if (!existsSync(path))
    return [warn(NAME, `${path} does not exist yet.`, "The first start creates it: npm start")];
  try {
    return [checkFile(path), ...checkContent(path, migrations)];
  } catch (error) {
    return [
      fail(
        NAME,
        (error as Error).message,
        "Restore a backup (muster restore FILE), or set MUSTER_DATABASE_URL.",
      ),
    ];
  }
}

function checkFile(path: string): Finding {
  const holder = findLockHolder(path);
  const who = holder?.pid === undefined ? "a server" : `a server (process ${holder.pid})`;
  return ok(
    NAME,
    `${path} (${formatBytes(statSync(path).size)}), ${holder ? `in use by ${who}` : "not in use"}`,
  );
}

function checkContent(path: string, migrations: readonly Migration[]): Finding[] {
  const db = openReadOnly(path);
  try {
    const [damage] = findDamage(db);
    const whole = damage
      ? fail(
          "integrity",
          `The database is damaged: ${damage}`,
          "Stop the server, then restore a backup: muster restore FILE",
        )
      : ok("integrity", "quick_check found no problems");
    return [whole, checkSchema(readSchemaState(db, migrations))];
  } finally {
    db.close();
  }
}
