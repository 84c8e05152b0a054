import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { Unavailable } from "./unavailable.ts";

export interface Program {
  name: string;
  /** The Debian package that contains it. */
  debianPackage: string;
  /** Folders to search besides PATH. */
  folders?: () => string[];
}

/** The program's file, installing its Debian package where that is possible. */
export function getProgram(program: Program): string {
  const file = findProgram(program) ?? installAndFind(program);
  if (file) return file;
  throw new Unavailable(`${program.name} was not found after installing ${program.debianPackage}`);
}

function findProgram({ name, folders }: Program): string | undefined {
  const all = [...(process.env.PATH ?? "").split(delimiter), ...(folders?.() ?? [])];
  return all.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function installAndFind(program: Program): string | undefined {
  if (!existsSync("/usr/bin/apt-get")) throw new Unavailable(`${program.name} is not installed`);
  if (process.getuid?.() !== 0) {
    throw new Unavailable(
      `${program.name} is not installed, and only root may: apt-get install ${program.debianPackage}`,
    );
  }
  installPackage(program.debianPackage);
  return findProgram(program);
}

let listsAreFresh = false;

function installPackage(name: string): void {
  process.stderr.write(`Installing ${name} …\n`);
  if (!listsAreFresh) aptGet("update");
  listsAreFresh = true;
  aptGet("install", "-y", "--no-install-recommends", name);
}

function aptGet(...args: string[]): void {
  const { status, stderr } = spawnSync("apt-get", ["-qq", ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
  });
  if (status === 0) return;
  const reason = stderr.trim().split("\n").at(-1);
  throw new Unavailable(`apt-get ${args.join(" ")} failed: ${reason}`);
}
