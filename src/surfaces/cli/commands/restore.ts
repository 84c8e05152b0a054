import { resolve } from "node:path";
import type { Command } from "commander";
import { Refusal } from "#base/refusal.ts";
import { confirm } from "../confirm.ts";
import { isPostgres, quoted, withoutPassword } from "../database/postgres-address.ts";
import type { Restored } from "../database/restore-database.ts";
import { EXIT } from "../exit-codes.ts";
import type { CliHost } from "../host.ts";
import { DONE, type Ending, type Invocation, perform } from "../invocation.ts";

export function addRestoreCommand(program: Command, host: CliHost): void {
  program
    .command("restore")
    .description(
      "Goes back to a copy of the database. The server must be stopped; the present database is kept.",
    )
    .argument("<file>", "a file written by muster backup")
    .option("--yes", "do not ask")
    .action((file: string, options: { yes?: boolean }, command: Command) =>
      perform(host, command, (invocation) =>
        restore(invocation, resolve(file), options.yes === true),
      ),
    );
}

async function restore(invocation: Invocation, from: string, yes: boolean): Promise<Ending> {
  const { host } = invocation;
  const { databaseUrl } = invocation.config();
  if (isPostgres(databaseUrl)) throw refusePostgres(databaseUrl, from);
  const { sqlitePathOf } = await import("../database/sqlite-file.ts");
  const { checkRestorable, lockForRestore, restoreDatabase } = await import(
    "../database/restore-database.ts"
  );
  const path = sqlitePathOf(databaseUrl);
  checkRestorable(from, path, host.kernelMigrations);
  const lock = await lockForRestore(path);
  try {
    if (!yes && !(await isConfirmed(host, from, path))) {
      invocation.note("Nothing was changed.");
      return EXIT.failed;
    }
    const restored = await restoreDatabase({ from, path, now: Date.now() });
    invocation.print(restored, reportLines(restored));
    return DONE;
  } finally {
    lock.release();
  }
}

async function isConfirmed(host: CliHost, from: string, path: string): Promise<boolean> {
  if (!host.stdin.isTTY) {
    throw new Refusal(
      "invalid",
      "wrong_usage",
      "Restoring replaces the database. Add --yes to do it without being asked.",
    );
  }
  return confirm(
    host,
    `Put ${from} in the place of ${path}? The present database is kept beside it.`,
  );
}

function reportLines(restored: Restored): string[] {
  const { path, kept, runsPutBack, runsFenced, credentialsRevoked, outboxHeld } = restored;
  return [
    `Restored ${path}.`,
    ...(kept ? [`  The database that was there is kept as ${kept}.`] : []),
    `  ${runsFenced} unfinished runs were fenced off from the runners of before; ${runsPutBack} of them wait to be taken again.`,
    `  ${credentialsRevoked} runner tokens, run tokens, browser sign-ins and sign-in links were revoked. API keys stay good.`,
    `  ${outboxHeld} deliveries that had not been made are held, because they may have been made since.`,
    "",
    "Next:",
    "  1. Start the server: npm start",
    "  2. Sign in again: muster login-link",
    "  3. Make new tokens for runners on other machines: muster runners token NAME",
  ];
}

function refusePostgres(databaseUrl: string, file: string): Refusal {
  const command = `pg_restore --clean --if-exists --single-transaction --dbname=${quoted(withoutPassword(databaseUrl))} ${quoted(file)}`;
  return new Refusal(
    "unsupported",
    "use_pg_restore",
    `PostgreSQL has its own tool. Stop every server, then:\n  ${command}\nAfterwards revoke the tokens of runners and make new ones.`,
  );
}
