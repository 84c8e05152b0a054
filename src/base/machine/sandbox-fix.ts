/** Finds the command that would give this machine a working bubblewrap. */
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Package managers by the program to look for. */
const MANAGERS = { "apt-get": "apt", dnf: "dnf", pacman: "pacman", apk: "apk" } as const;
/** Kernel settings that forbid namespaces, with the forbidding value. */
const SETTINGS = [
  { file: "kernel/apparmor_restrict_unprivileged_userns", forbids: "1", fix: "apparmor_userns" },
  { file: "kernel/unprivileged_userns_clone", forbids: "0", fix: "debian_userns" },
  { file: "user/max_user_namespaces", forbids: "0", fix: "max_userns" },
] as const;

export function findInstallFix(path: string) {
  const folders = path.split(delimiter).filter(Boolean);
  for (const [program, fix] of Object.entries(MANAGERS) as [
    keyof typeof MANAGERS,
    (typeof MANAGERS)[keyof typeof MANAGERS],
  ][]) {
    if (folders.some((folder) => isProgram(join(folder, program)))) return fix;
  }
  return null;
}

export function findNamespaceFix(settingsFolder = "/proc/sys") {
  for (const { file, forbids, fix } of SETTINGS) {
    const path = join(settingsFolder, file);
    if (existsSync(path) && readFileSync(path, "utf8").trim() === forbids) return fix;
  }
  return null;
}

/** True for error messages of bubblewrap that mean the kernel refused to create namespaces. */
export function isNamespaceError(message: string): boolean {
  return /namespace|uid map|Operation not permitted|No permissions/i.test(message);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
