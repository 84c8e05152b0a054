import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { Config } from "#base/config.ts";
import type { Runner } from "#protocol/runs.ts";
import { isPostgres } from "../database/postgres-address.ts";
import { EXIT } from "../kit/exit-codes.ts";
import type { CliHost } from "../kit/host.ts";
import { type Ending, type Invocation, perform } from "../kit/invocation.ts";
import { type Style, safeText, styleFor } from "../kit/text/terminal.ts";
import { checkDataFolder, checkOwnerKey } from "./check-data-folder.ts";
import { checkRunnerDisks, describeDatabaseFiles } from "./check-disks.ts";
import { checkModels } from "./check-models.ts";
import { checkPort } from "./check-port.ts";
import { checkGit, checkNode } from "./check-programs.ts";
import { checkSandbox, SANDBOX } from "./check-sandbox.ts";
import { type Finding, fail, ok } from "./finding.ts";

const NAME_WIDTH = 12;

export function addDoctorCommand(program: Command, host: CliHost): void {
  program
    .command("doctor")
    .description("Check this machine for problems and say how to fix them.")
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
  const isOpen = findings.some(({ name, level }) => name === SANDBOX && level === "warn");
  const summary = summaryOf(failed, warned, isOpen);
  invocation.print({ ok: failed === 0, sandboxed: !isOpen, findings }, [...lines, "", summary]);
  return failed === 0 ? EXIT.ok : EXIT.failed;
}

/** Checks that need valid settings. */
function configured(
  invocation: Invocation,
): (Finding | Finding[] | Promise<Finding | Finding[]>)[] {
  const { host, config: load } = invocation;
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
    knownRunners(invocation).then(async (runners) => [
      ...(await checkSandbox(config, runners)),
      ...checkRunnerDisks(runners),
    ]),
    checkPort(config),
    checkOwnerKey(config),
    checkModels(host.env, config),
  ];
}

/** Runners of the server, if it runs and a key is available. */
async function knownRunners(invocation: Invocation): Promise<Runner[]> {
  try {
    const api = invocation.api();
    const all = await api.listAll(api.runners.list, {});
    return all.filter(({ state }) => state !== "offline");
  } catch {
    return [];
  }
}

async function checkDatabase(host: CliHost, { databaseUrl }: Config): Promise<Finding[]> {
  if (isPostgres(databaseUrl)) {
    const { checkPostgres } = await import("./check-postgres.ts");
    return checkPostgres(databaseUrl, host.kernelMigrations);
  }
  if (databaseUrl === "sqlite::memory:") return [ok("database", "in memory only; nothing is kept")];
  const { sqlitePathOf } = await import("../database/sqlite-file.ts");
  const { checkSqlite } = await import("./check-sqlite.ts");
  const path = sqlitePathOf(databaseUrl);
  const findings = await checkSqlite(path, host.kernelMigrations);
  return existsSync(path) ? [...findings, describeDatabaseFiles(path)] : findings;
}

function findingLines({ name, level, text, mend }: Finding, style: Style): string[] {
  const colour = { ok: style.green, warn: style.yellow, fail: style.red }[level];
  const indent = " ".repeat(6 + NAME_WIDTH);
  const [first = "", ...rest] = safeText(text).split("\n");
  return [
    `${colour(level.padEnd(6))}${name.padEnd(NAME_WIDTH)}${first}`,
    ...rest.map((line) => `${indent}${line}`),
    ...(mend === undefined
      ? []
      : mend.split("\n").map((line) => `${indent}${style.dim("→")} ${line}`)),
  ];
}

/** `isOpen`: agents work without a sandbox, which a person has allowed and which still comes first. */
function summaryOf(failed: number, warned: number, isOpen: boolean): string {
  const open = isOpen ? "Agents run commands without a sandbox. " : "";
  if (failed > 0) return `${open}${failed} to fix${warned > 0 ? `, ${warned} to look at` : ""}.`;
  if (isOpen) return `${open}${warned} to look at.`;
  return warned > 0 ? `No problems; ${warned} to look at.` : "No problems.";
}
