/**
 * Installs agent programs for tests into `.cache/agents`, once. They are far too large to be
 * dependencies; a test that cannot get one is skipped and says why.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const CACHE = resolve(import.meta.dirname, "../../.cache/agents");
const INSTALL_TIMEOUT_MS = 120_000;

export interface AgentPackage {
  package: string;
  version: string;
  /** The program's path inside the package. */
  program: string;
}

export const OPENCODE_PACKAGE: AgentPackage = {
  package: "opencode-linux-x64",
  version: "1.18.33",
  program: "bin/opencode",
};

export type Installed = { program: string } | { missing: string };

/** The path of the program, or the reason why it is not available. */
export async function installAgent({
  package: name,
  version,
  program,
}: AgentPackage): Promise<Installed> {
  if (`${process.platform}-${process.arch}` !== "linux-x64")
    return { missing: `${name} is for linux-x64` };
  const folder = join(CACHE, `${name}-${version}`);
  const path = join(folder, "node_modules", name, program);
  if (existsSync(path)) return { program: path };
  const unfinished = `${folder}.${process.pid}`;
  try {
    mkdirSync(unfinished, { recursive: true });
    const flags = [
      "--no-save",
      "--no-audit",
      "--no-fund",
      "--ignore-scripts",
      "--prefix",
      unfinished,
    ];
    await promisify(execFile)("npm", ["install", ...flags, `${name}@${version}`], {
      cwd: unfinished,
      timeout: INSTALL_TIMEOUT_MS,
    });
    if (!existsSync(folder)) renameSync(unfinished, folder);
    return existsSync(path)
      ? { program: path }
      : { missing: `${name}@${version} has no ${program}` };
  } catch (error) {
    return {
      missing: `${name}@${version} could not be installed: ${(error as Error).message.split("\n")[0]}`,
    };
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
