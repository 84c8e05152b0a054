/**
 * Migrates a schema, one migration per transaction, and refuses a schema that is newer than this
 * program.
 */
import { Refusal } from "../refusal.ts";
import type { Dialect } from "./statement.ts";
import type { Migration } from "./store.ts";

export interface MigrationTarget {
  dialect: Dialect;
  applied(): Promise<string[]>;
  /** Called once before the first change, to make a copy. */
  beforeFirst(nextId: string, hasData: boolean): Promise<void>;
  apply(migration: Migration): Promise<void>;
}

export async function applyMigrations(
  migrations: readonly Migration[],
  target: MigrationTarget,
): Promise<void> {
  const known = new Set(migrations.map((migration) => migration.id));
  const applied = new Set(await target.applied());
  const newer = [...applied].filter((id) => !known.has(id));
  if (newer.length > 0) {
    throw new Refusal(
      "conflict",
      "schema_newer",
      `This database was written by a newer Muster (it has ${newer.join(", ")}). Start that version, or restore an older backup.`,
    );
  }
  const missing = migrations.filter((migration) => !applied.has(migration.id));
  const [first] = missing;
  if (!first) return;
  await target.beforeFirst(first.id, applied.size > 0);
  for (const migration of missing) await target.apply(migration);
}
