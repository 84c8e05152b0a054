/**
 * A command's view of the machine, as options for bubblewrap. Order matters: a later mount lies
 * over an earlier one. The root and `/proc` are made read-only at the very end. `/proc` must be:
 * for a runner that is root, the kernel takes a process in the sandbox for root when it writes to
 * `/proc/sys`, capabilities or not, and `core_pattern` there names a program to be run outside.
 */
import { SCRATCH_PATH, WORKSPACE_PATH } from "#protocol/names/workspace-paths.ts";
import type { SandboxCommand, SandboxSpec } from "../sandbox.ts";

export const AGENT_HOME = "/home/agent";
const IDS = "1000";
const SHARED_MEMORY_BYTES = 1024 ** 3;

/** The part of the view that is the same for all commands of a machine; determined once. */
export interface SystemView {
  /** Top folders such as `/bin`: links to be made, or folders to be shown. */
  links: readonly { target: string; at: string }[];
  folders: readonly string[];
  etcFolder: string;
  /** Files of `/proc` that reveal the machine and exist on it. */
  hidden: readonly string[];
}

/** Files to hide; others that matter need capabilities to be read. Each costs a mount. */
export const PROC_FILES_TO_HIDE = ["kcore", "keys", "timer_list", "sched_debug"];

export interface Scratch {
  tmp: string;
  home: string;
}

export const BASE_ENV: Readonly<Record<string, string>> = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: AGENT_HOME,
  USER: "agent",
  LOGNAME: "agent",
  SHELL: "/bin/sh",
  LANG: "C.UTF-8",
  TERM: "dumb",
  TMPDIR: "/tmp",
};

/** The part of a command's options that is the same for all commands of a sandbox. */
export function buildView(system: SystemView, spec: SandboxSpec, scratch: Scratch): string[] {
  return [
    ...["--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent"],
    ...["--new-session", "--uid", IDS, "--gid", IDS, "--cap-drop", "ALL", "--hostname", "sandbox"],
    ...system.folders.flatMap((folder) => ["--ro-bind", folder, folder]),
    ...system.links.flatMap(({ target, at }) => ["--symlink", target, at]),
    ...["--proc", "/proc", "--dev", "/dev"],
    ...["--perms", "1777", "--size", String(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"],
    ...["--ro-bind", system.etcFolder, "/etc", "--dir", "/run", "--dir", "/var"],
    ...["--bind", scratch.tmp, SCRATCH_PATH, "--bind", scratch.home, AGENT_HOME],
    ...["--symlink", "/tmp", "/var/tmp", "--symlink", "/run", "/var/run"],
    spec.workspaceReadOnly ? "--ro-bind" : "--bind",
    spec.workspaceFolder,
    WORKSPACE_PATH,
    ...(spec.readOnly ?? []).flatMap(({ from, to }) => ["--ro-bind", from, to]),
    ...(spec.writable ?? []).flatMap(({ from, to }) => ["--bind", from, to]),
    ...system.hidden.flatMap((file) => ["--ro-bind", "/dev/null", file]),
    ...["--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/"],
    "--clearenv",
  ];
}

/** Options that a single command adds to the view. */
export function buildCommandOptions(
  { cwd, env }: Pick<SandboxCommand, "cwd" | "env">,
  more: Readonly<Record<string, string>> = {},
): string[] {
  const all = { ...BASE_ENV, ...more, ...env };
  return [
    ...Object.entries(all).flatMap(([name, value]) => ["--setenv", name, value]),
    ...["--chdir", cwd ?? WORKSPACE_PATH],
  ];
}

/** Bubblewrap takes its options from a file descriptor, each ended by a zero byte. */
export function encodeOptions(options: readonly string[]): Buffer {
  if (options.some((option) => option.includes("\0"))) {
    throw new Error("An option for the sandbox holds a zero byte.");
  }
  return Buffer.from(options.map((option) => `${option}\0`).join(""));
}
