/** Makes a file from which a server could start: a copy of the backup, migrated and made safe. */
import Database from "better-sqlite3";
import type { Migration } from "#base/store/index.ts";
import { copyDatabase } from "./copy-database.ts";
import { type MadeSafe, makeSafe, type SafetyOptions } from "./make-safe.ts";
import { readPreviousAccess } from "./previous-access.ts";
import { inSqliteTransaction, sqliteDb } from "./restore-db.ts";
import { openReadOnly, readSchemaState } from "./sqlite-file.ts";

export interface DraftRequest {
  from: string;
  /** Path of the draft; the caller removes it. */
  draft: string;
  /** The database to replace, which knows what was revoked since. */
  previous: string;
  migrations: readonly Migration[];
  options: Omit<SafetyOptions, "previous">;
}

export async function prepareDraft(request: DraftRequest): Promise<MadeSafe> {
  const source = openReadOnly(request.from);
  try {
    await copyDatabase(source, request.draft);
  } finally {
    source.close();
  }
  return makeDatabaseSafe(request.draft, request);
}

/** Changes the file in one transaction. */
export async function makeDatabaseSafe(
  path: string,
  { previous, migrations, options }: Pick<DraftRequest, "previous" | "migrations" | "options">,
): Promise<MadeSafe> {
  const db = new Database(path, { fileMustExist: true });
  try {
    db.pragma("journal_mode = DELETE");
    db.pragma("synchronous = FULL");
    return await inSqliteTransaction(db, async () => {
      applyMigrations(db, migrations, options.now);
      const access =
        previous === path ? undefined : await readPreviousAccess(previous, sqliteDb(db));
      return makeSafe(sqliteDb(db), { ...options, previous: access });
    });
  } finally {
    db.close();
  }
}

function applyMigrations(
  db: Database.Database,
  migrations: readonly Migration[],
  now: number,
): void {
  const schema = readSchemaState(db, migrations);
  if (schema.kind !== "older") return;
  for (const migration of migrations.filter(({ id }) => schema.ids.includes(id))) {
    for (const statement of migration.statements("sqlite")) db.exec(statement);
    db.prepare("insert into schema_migrations (id, applied_at) values (?, ?)").run(
      migration.id,
      now,
    );
  }
}
