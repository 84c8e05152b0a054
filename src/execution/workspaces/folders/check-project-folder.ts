/**
 * Rules for the folders of the machine that an agent may work in directly or clone from. Folders
 * whose loss or disclosure would cost more than a project are refused: system folders, whole home
 * folders, the places where programs keep secrets, and Muster's own. The settings of the runner can
 * restrict it further.
 */
import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { refused } from "../repository/repository-rules.ts";
import { type HeldFolder, holdFolder } from "./held-folder.ts";

/** Folders that are refused with everything below them. */
const SYSTEM = [
  ...["/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run"],
  ...["/sbin", "/sys", "/usr", "/lost+found", "/var/run", "/var/lock"],
];
/** Folders that are refused with everything below them, except named project folders. */
const SERVICES = [
  ...["/var/lib", "/var/log", "/var/cache", "/var/spool", "/var/mail", "/var/backups", "/snap"],
];
/** Folders that are refused themselves; a folder below may be a project. */
const TOPS = ["/", "/home", "/root", "/opt", "/srv", "/mnt", "/media", "/tmp", "/var", "/var/tmp"];
/** Folders that contain home folders. */
const HOMES = ["/home", "/Users"];

export interface FolderRules {
  /** Folders of Muster's own: neither they, nor folders in or around them, may be used. */
  protectedFolders: readonly string[];
  /** If there are any, every folder in use must be in them. */
  projectFolders?: readonly string[];
  /** The one folder that the runner itself is for. */
  onlyWithin?: string | undefined;
  /** Home of the user who runs us, wherever it is. */
  home?: string;
}

/**
 * Resolves the folders that the rules name, once: a name must not begin to mean another folder
 * because somebody has put a link in its place.
 */
export function resolveRules({
  projectFolders = [],
  onlyWithin,
  ...rules
}: FolderRules): FolderRules {
  return {
    ...rules,
    projectFolders: projectFolders.map(real),
    onlyWithin: onlyWithin === undefined ? undefined : real(onlyWithin),
  };
}

/** Takes hold of the folder, by its real path. */
export function holdProjectFolder(requested: string, rules: FolderRules): HeldFolder {
  if (!isAbsolute(requested)) throw refused("Give the folder as an absolute path.");
  // Refused before its existence is checked: a refusal must not disclose it.
  const path = real(requested);
  checkPath(path, rules);
  if (!existsSync(path) || !statSync(path).isDirectory()) {
    throw refused("This folder does not exist on the runner's machine. Check the path.");
  }
  return holdFolder(path, { checkPath: (again) => checkPath(again, rules) });
}

/** Checks a path without links in it. */
export function checkPath(path: string, rules: FolderRules): void {
  const why = findReason(path, rules);
  if (why) throw refused(`${why} Choose a project's own folder.`);
}

/** True if `path` is `folder` or lies in it. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === sep ? sep : folder + sep);
}

function findReason(folder: string, rules: FolderRules): string | undefined {
  const { protectedFolders, projectFolders = [], onlyWithin } = rules;
  const own = protectedFolders.map(real);
  if (own.some((top) => isInside(folder, top) || isInside(top, folder))) {
    return "Muster keeps its own files in this folder.";
  }
  if (onlyWithin !== undefined && !isInside(folder, onlyWithin)) {
    return "This runner works in one folder only, and this one is outside it.";
  }
  if (projectFolders.length > 0 && !projectFolders.some((top) => isInside(folder, top))) {
    return "This folder is not in any folder that the runner may use (MUSTER_PROJECT_FOLDERS).";
  }
  return isSystemFolder(folder, projectFolders)
    ? "This folder belongs to the system."
    : findReasonInHome(folder, rules.home ?? homedir());
}

function isSystemFolder(folder: string, projectFolders: readonly string[]): boolean {
  if (TOPS.includes(folder) || SYSTEM.some((top) => isInside(folder, top))) return true;
  const service = SERVICES.find((top) => isInside(folder, top));
  if (service === undefined) return false;
  return !projectFolders.some((named) => isInside(named, service) && isInside(folder, named));
}

function findReasonInHome(folder: string, ownHome: string): string | undefined {
  for (const home of ["/root", ownHome, ...homesAround(folder)].map(real)) {
    if (isInside(home, folder)) return "This is a home folder, with all its secrets.";
    if (isInside(folder, home) && relative(home, folder).startsWith(".")) {
      return "Programs keep their settings and secrets in this folder.";
    }
  }
  return undefined;
}

/** Home folder that contains the folder, or the folder of all homes. */
function homesAround(folder: string): string[] {
  return HOMES.map(real)
    .filter((base) => isInside(folder, base))
    .map((base) => {
      const [name = ""] = relative(base, folder).split(sep);
      return name.startsWith(".") ? base : join(base, name);
    });
}

function real(path: string): string {
  const full = resolve(path);
  return existsSync(full) ? realpathSync(full) : full;
}
