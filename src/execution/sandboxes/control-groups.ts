/**
 * Control groups of the kernel (both versions), where this process may make some: one group for a
 * sandbox, which carries its limits, and below it one for each command, which counts, kills and
 * tracks everything the command started.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Branch, type Controller, findBranches } from "./control-group-mounts.ts";
import type { SandboxLimits } from "./sandbox.ts";

export interface CommandGroup {
  /** A process that writes 0 into these files joins the group, with everything it starts. */
  readonly join: readonly string[];
  kill(): void;
  isEmpty(): boolean;
  /** True if the kernel killed a process of the group for lack of memory. */
  ranOutOfMemory(): boolean;
  remove(): void;
}

export interface SandboxGroup {
  openCommand(): CommandGroup;
  remove(): void;
}

export interface ControlGroups {
  readonly version: 1 | 2;
  open(limits: SandboxLimits): SandboxGroup;
}

const PREFIX = "muster-";

/** Null where no group can be made; found out by making one. */
export function findControlGroups(procFolder = "/proc"): ControlGroups | null {
  const branches = findBranches(procFolder);
  const controllers = new Set(branches.flatMap(({ controls }) => controls));
  if (!controllers.has("pids") || !controllers.has("memory")) return null;
  const groups: ControlGroups = {
    version: branches[0]?.version ?? 1,
    open: (limits) => openGroup(branches, limits),
  };
  try {
    for (const { folder } of branches) sweepOld(folder);
    return canJoin(groups) ? groups : null;
  } catch {
    return null; // Read-only, somebody else's, or controllers that are not delegated.
  }
}

/** Making a group is one right, moving into it another. */
function canJoin(groups: ControlGroups): boolean {
  const group = groups.open({ processes: 64, memoryBytes: 64 * 1024 ** 2, fileBytes: 0 });
  const command = group.openCommand();
  const script = 'for f; do echo 0 >"$f" || exit; done';
  const { status } = spawnSync("/bin/sh", ["-c", script, "sh", ...command.join], {
    stdio: "ignore",
  });
  command.remove();
  group.remove();
  return status === 0;
}

function openGroup(branches: readonly Branch[], limits: SandboxLimits): SandboxGroup {
  const name = `${PREFIX}${process.pid}-${randomBytes(6).toString("hex")}`;
  const made = branches.map((branch) => ({ ...branch, folder: join(branch.folder, name) }));
  let commands = 0;
  try {
    for (const branch of made) makeLimited(branch, limits);
  } catch (error) {
    for (const { folder } of made) tryRemove(folder);
    throw error;
  }
  return {
    openCommand: () => openCommand(made, String(commands++)),
    remove() {
      for (const { folder } of made) removeWithChildren(folder);
    },
  };
}

function makeLimited({ folder, controls, version }: Branch, limits: SandboxLimits): void {
  mkdirSync(folder);
  const set = (file: string, value: number | string) =>
    writeFileSync(join(folder, file), String(value));
  if (version === 2) set("cgroup.subtree_control", controls.map((name) => `+${name}`).join(" "));
  if (controls.includes("pids")) set("pids.max", limits.processes);
  if (!controls.includes("memory")) return;
  if (version === 2) {
    set("memory.max", limits.memoryBytes);
    tryWrite(join(folder, "memory.swap.max"), "0");
  } else {
    set("memory.limit_in_bytes", limits.memoryBytes);
    // Limit of memory and swap together; absent where swap is not counted.
    tryWrite(join(folder, "memory.memsw.limit_in_bytes"), String(limits.memoryBytes));
  }
}

function openCommand(parents: readonly Branch[], name: string): CommandGroup {
  const branches = parents.map((parent) => ({ ...parent, folder: join(parent.folder, name) }));
  for (const { folder, version } of branches) {
    mkdirSync(folder);
    // The kernel then ends all of a command, not just its largest part.
    if (version === 2) tryWrite(join(folder, "memory.oom.group"), "1");
  }
  const lists = branches.map(({ folder }) => join(folder, "cgroup.procs"));
  const memory = branches.find(({ controls }) => controls.includes("memory" as Controller));
  return {
    join: lists,
    kill() {
      for (const { folder, version } of branches) {
        if (version === 2 && tryWrite(join(folder, "cgroup.kill"), "1")) continue;
        for (const pid of pidsIn(join(folder, "cgroup.procs"))) tryKill(pid);
      }
    },
    isEmpty: () => lists.every((list) => pidsIn(list).length === 0),
    ranOutOfMemory: () => memory !== undefined && countOomKills(memory) > 0,
    remove() {
      for (const { folder } of branches) tryRemove(folder);
    },
  };
}

function countOomKills({ folder, version }: Branch): number {
  const file = version === 2 ? "memory.events" : "memory.oom_control";
  return Number(/^oom_kill (\d+)$/m.exec(tryRead(join(folder, file)))?.[1] ?? 0);
}

function pidsIn(list: string): number[] {
  return tryRead(list).split("\n").filter(Boolean).map(Number);
}

/** Removes groups that a killed process has left behind. */
function sweepOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid && !isAlive(Number(pid))) removeWithChildren(join(folder, name));
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function removeWithChildren(folder: string): void {
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory()) tryRemove(join(folder, entry.name));
    }
  } catch {
    // The group is gone already.
  }
  tryRemove(folder);
}

function tryRemove(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Still in use, or gone: the next start sweeps the group.
  }
}

function tryRead(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}

function tryWrite(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: "r+" });
    return true;
  } catch {
    return false;
  }
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended already.
  }
}
