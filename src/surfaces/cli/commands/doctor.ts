import type { Command } from "commander";
import type { Config } from "#base/config.ts";
import { isPostgres } from "../database/postgres-address.ts";
import { checkDataFolder, checkOwnerKey } from "../doctor/check-data-folder.ts";
import { checkModels } from "../doctor/check-models.ts";
import { checkPort } from "../doctor/check-port.ts";
import { checkGit, checkNode, checkSandbox } from "../doctor/check-programs.ts";
import { type Finding, fail, ok } from "../doctor/finding.ts";
import { EXIT } from "../exit-codes.ts";
import type { CliHost } from "../host.ts";
import { type Ending, type Invocation, perform } from "../invocation.ts";
import { type Style, safeText, styleFor } from "../terminal.ts";

const NAME_WIDTH = 12;

export function addDoctorCommand(program: Command, host: CliHost): void {
  program
    .command("doctor")
    .description("Looks for what could be wrong on this machine, and says how to mend it.")
    .action((_options: object, command: Command) => perform(host, command, examine));
}

async function examine(invocation: Invocation): Promise<Ending> {
  const { host } = invocation;
  const findings = (
    await Promise.all([checkNode(), ...configured(invocation), checkGit(host.env.PATH)])
  ).flat();
  const failed = findings.filter((finding) => finding.level === "fail").length;
  const warned = findings.filter((finding) => finding.level === "warn").length;
  const style = styleFor(host.stdout, host.env);
  const lines = findings.flatMap((finding) => findingLines(finding, style));
  invocation.print({ ok: failed === 0, findings }, [...lines, "", summaryOf(failed, warned)]);
  return failed === 0 ? EXIT.ok : EXIT.failed;
}

/** What can be looked at only when the settings are good. */
function configured({
  host,
  config: load,
}: Invocation): (Finding | Finding[] | Promise<Finding | Finding[]>)[] {
  let config: Config;
  try {
    config = load();
  } catch (error) {
    return [
      fail(
        "settings",
        (error as Error).message,
        "Correct it in the environment or in muster.config.json.",
      ),
    ];
  }
  return [
    ok("settings", "good"),
    checkDataFolder(config),
    checkDatabase(host, config),
    checkSandbox(host.env.PATH, config.sandbox),
    checkPort(config),
    checkOwnerKey(config),
    checkModels(host.env, config),
  ];
}

async function checkDatabase(host: CliHost, { databaseUrl }: Config): Promise<Finding[]> {
  if (isPostgres(databaseUrl)) {
    const { checkPostgres } = await import("../doctor/check-postgres.ts");
    return checkPostgres(databaseUrl, host.kernelMigrations);
  }
  if (databaseUrl === "sqlite::memory:") return [ok("database", "in memory only; nothing is kept")];
  const { sqlitePathOf } = await import("../database/sqlite-file.ts");
  const { checkSqlite } = await import("../doctor/check-sqlite.ts");
  return checkSqlite(sqlitePathOf(databaseUrl), host.kernelMigrations);
}

function findingLines({ name, level, text, mend }: Finding, style: Style): string[] {
  const colour = { ok: style.green, warn: style.yellow, fail: style.red }[level];
  const indent = " ".repeat(6 + NAME_WIDTH);
  const [first = "", ...rest] = safeText(text).split("\n");
  return [
    `${colour(level.padEnd(6))}${name.padEnd(NAME_WIDTH)}${first}`,
    ...rest.map((line) => `${indent}${line}`),
    ...(mend === undefined ? [] : [`${indent}${style.dim("→")} ${mend}`]),
  ];
}

function summaryOf(failed: number, warned: number): string {
  if (failed > 0) return `${failed} to mend${warned > 0 ? `, ${warned} to look at` : ""}.`;
  return warned > 0 ? `Nothing is broken; ${warned} to look at.` : "All is well.";
}
