/**
 * Which folders of the machine an agent may be let loose on as they are. Not those whose loss or
 * reading would cost more than a project: the system's, a whole home, where programs keep their
 * secrets, and Muster's own.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { refused } from "./parse-repository.ts";

/** With everything in them. */
const SYSTEM = [
  ...["/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run"],
  ...["/sbin", "/sys", "/usr", "/lost+found", "/var/lib", "/var/log", "/var/run", "/var/cache"],
];
/** Themselves only: what is below may be a project. */
const TOPS = ["/", "/home", "/root", "/opt", "/srv", "/mnt", "/media", "/tmp", "/var", "/var/tmp"];

export interface FolderRules {
  /** Muster's own folders: none inside, none around. */
  protectedFolders: readonly string[];
  home?: string;
}

/** The folder's real path. */
export function checkProjectFolder(wish: string, rules: FolderRules): string {
  if (!isAbsolute(wish)) throw refused("Give the project's folder as an absolute path.");
  if (!existsSync(wish) || !statSync(wish).isDirectory()) {
    throw refused("This folder does not exist on the runner's machine. Check the path.");
  }
  const folder = realpathSync(wish);
  const why = findReason(folder, rules);
  if (why) throw refused(`${why} Choose a project's own folder.`);
  return folder;
}

/** Also for repositories that are cloned from a path: Muster's own folders are not given away. */
export function isProtected(path: string, folders: readonly string[]): boolean {
  return folders.map(real).some((own) => isInside(path, own) || isInside(own, path));
}

function findReason(folder: string, { protectedFolders, home = homedir() }: FolderRules) {
  if (isProtected(folder, protectedFolders)) return "This is where Muster keeps its own files.";
  if (TOPS.includes(folder) || SYSTEM.some((top) => isInside(folder, top))) {
    return "This folder belongs to the system.";
  }
  const realHome = real(home);
  if (isInside(realHome, folder) || /^\/home\/[^/]+$/.test(folder)) {
    return "This is a whole home, with all its secrets.";
  }
  if (isInside(folder, realHome) && relative(realHome, folder).startsWith(".")) {
    return "This is where programs keep their settings and secrets.";
  }
  return undefined;
}

/** Whether `path` is `folder` or lies in it. */
function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === sep ? sep : folder + sep);
}

function real(path: string): string {
  const full = resolve(path);
  return existsSync(full) ? realpathSync(full) : join(full);
}
