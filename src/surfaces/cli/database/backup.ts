import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { Refusal } from "#base/refusal.ts";
import type { CliHost } from "../kit/host.ts";
import { DONE, type Ending, type Invocation, perform } from "../kit/invocation.ts";
import { formatBytes } from "../kit/text/terminal.ts";
import { fileStamp } from "./file-stamp.ts";
import { isPostgres, quoted, withoutPassword } from "./postgres-address.ts";

export function addBackupCommand(program: Command, host: CliHost): void {
  program
    .command("backup")
    .description("Write a backup of the database to a file, also while the server runs.")
    .argument(
      "[file]",
      "the file to write; never overwritten (default: muster-backup-<time>.db here)",
    )
    .action((file: string | undefined, _options: object, command: Command) =>
      perform(host, command, (invocation) => backup(invocation, file)),
    );
}

async function backup(invocation: Invocation, file: string | undefined): Promise<Ending> {
  const { databaseUrl } = invocation.config();
  if (isPostgres(databaseUrl)) throw refusePostgres(databaseUrl, file);
  const { openReadOnly, sqlitePathOf } = await import("./sqlite-file.ts");
  const { copyDatabase } = await import("./copy-database.ts");
  const target = targetOf(file);
  const db = openReadOnly(sqlitePathOf(databaseUrl));
  try {
    await copyDatabase(db, target);
  } finally {
    db.close();
  }
  const { size } = statSync(target);
  invocation.print({ file: target, bytes: size }, [`${target} (${formatBytes(size)}, checked)`]);
  invocation.note(
    "It contains everything people and agents wrote. Restore it with: muster restore FILE",
  );
  invocation.note(
    "Stored secrets need secret.key from the data folder: keep a copy of it elsewhere.",
  );
  return DONE;
}

function targetOf(file: string | undefined): string {
  const name = `muster-backup-${fileStamp(Date.now())}.db`;
  if (file === undefined) return resolve(name);
  const isFolder = statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
  return resolve(isFolder ? join(file, name) : file);
}

function refusePostgres(
  databaseUrl: string,
  file = `muster-backup-${fileStamp(Date.now())}.dump`,
): Refusal {
  const command = `pg_dump --format=custom --file=${quoted(file)} ${quoted(withoutPassword(databaseUrl))}`;
  return new Refusal(
    "unsupported",
    "use_pg_dump",
    `PostgreSQL has its own backup tool, which is safe while the server runs:
 ${command}`,
  );
}
