import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { Refusal } from "#base/refusal.ts";
import { confirm } from "../kit/confirm.ts";
import { EXIT } from "../kit/exit-codes.ts";
import type { CliHost } from "../kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "../kit/invocation.ts";
import { isPostgres, quoted, withoutPassword } from "./postgres-address.ts";
import type { Restored, RestoreRequest } from "./restore-database.ts";
import { reportRestored } from "./restore-report.ts";

interface Options {
  yes?: boolean;
  withoutSecrets?: boolean;
  keepAccess?: boolean;
  adopt?: boolean;
}

export function addRestoreCommand(program: Command, host: CliHost): void {
  program
    .command("restore")
    .description(
      "Restore a backup, also into PostgreSQL. Stop the server first; the present database is kept.",
    )
    .argument("[file]", "a file written by muster backup")
    .option("--yes", "skip the question")
    .option(
      "--without-secrets",
      "the backup's secret key is lost: remove everything encrypted with it",
    )
    .option(
      "--keep-access",
      "nothing was revoked and nobody was removed since the backup: keep all access",
    )
    .option(
      "--adopt",
      "instead of a file: the database was restored by other means, such as pg_restore; make it safe",
    )
    .action((file: string | undefined, options: Options, command: Command) =>
      perform(host, command, (invocation) => restore(invocation, file, options)),
    );
}

async function restore(
  invocation: Invocation,
  file: string | undefined,
  options: Options,
): Promise<Ending> {
  const { host } = invocation;
  const config = invocation.config();
  if ((file === undefined) !== (options.adopt === true)) throw wrongUsage();
  const request: RestoreRequest = {
    config,
    migrations: host.kernelMigrations,
    encrypted: host.encryptedColumns,
    keepAccess: options.keepAccess === true,
    withoutSecrets: options.withoutSecrets === true,
    now: Date.now(),
  };
  const database = await import("./restore-database.ts");
  const path = database.databaseFileOf(config);
  const from = file === undefined ? undefined : resolve(file);
  if (from !== undefined) {
    if (isPostgres(config.databaseUrl)) refuseDump(config.databaseUrl, from);
    database.checkRestorable(from, path, host.kernelMigrations);
  }
  // Onto PostgreSQL, the server to stop is that of the SQLite file, if there is one.
  const mustLock = !isPostgres(config.databaseUrl) || existsSync(path);
  const lock = mustLock ? await database.lockForRestore(path) : undefined;
  try {
    const forget = await database.checkSecretKey(request, from);
    const name = isPostgres(config.databaseUrl) ? withoutPassword(config.databaseUrl) : path;
    if (options.yes !== true && !(await isConfirmed(host, from, name))) {
      invocation.note("Nothing was changed.");
      return EXIT.failed;
    }
    const restored = await restoreInto(database, request, from, forget, name);
    invocation.print(restored, reportRestored(restored));
    return DONE;
  } finally {
    lock?.release();
  }
}

type Database = typeof import("./restore-database.ts");

function restoreInto(
  database: Database,
  request: RestoreRequest,
  from: string | undefined,
  forget: RestoreRequest["encrypted"],
  name: string,
): Promise<Restored> {
  if (from === undefined) return database.adoptDatabase(request, forget, name);
  return isPostgres(request.config.databaseUrl)
    ? database.restoreOntoPostgres(request, from, forget, name)
    : database.restoreSqlite(request, from, forget);
}

async function isConfirmed(
  host: CliHost,
  from: string | undefined,
  name: string,
): Promise<boolean> {
  if (!host.stdin.isTTY) {
    throw new Refusal(
      "invalid",
      "wrong_usage",
      "This replaces the database. Add --yes to restore without the question.",
    );
  }
  return confirm(
    host,
    from === undefined
      ? `Make ${name} safe to start? Tokens, browser sign-ins and other access will be revoked.`
      : `Replace ${name} with ${from}? The present database is kept.`,
  );
}

function wrongUsage(): Refusal {
  return new Refusal(
    "invalid",
    "wrong_usage",
    "Name the backup: muster restore FILE. For a database restored by other means: muster restore --adopt",
  );
}

/** PostgreSQL's own tool restores its dumps; this command takes SQLite copies only. */
function refuseDump(databaseUrl: string, file: string): void {
  if (existsSync(file) && isSqlite(file)) return;
  const command = `pg_restore --clean --if-exists --single-transaction --dbname=${quoted(withoutPassword(databaseUrl))} ${quoted(file)}`;
  throw new Refusal(
    "unsupported",
    "use_pg_restore",
    `This is not a SQLite backup. Restore a PostgreSQL dump with PostgreSQL's own tool. Stop every server, then:
 ${command}
 npx muster restore --adopt`,
  );
}

function isSqlite(file: string): boolean {
  const start = Buffer.alloc(16);
  const opened = openSync(file, "r");
  try {
    readSync(opened, start);
  } finally {
    closeSync(opened);
  }
  return start.toString("latin1").startsWith("SQLite format 3");
}
