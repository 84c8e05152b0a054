import { accessSync, constants, type Stats, statfsSync, statSync } from "node:fs";
import type { Config } from "#base/config.ts";
import { ownerKeyPath } from "../client/find-server.ts";
import { formatBytes } from "../kit/text/terminal.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const LOW_BYTES = 1024 ** 3;
const FULL_BYTES = 100 * 1024 ** 2;
const OTHERS = 0o077;

export function checkDataFolder({ home }: Config): Finding[] {
  const name = "data folder";
  const stats = statSync(home, { throwIfNoEntry: false });
  if (!stats)
    return [warn(name, `${home} does not exist yet.`, "The first start creates it: npm start")];
  if (!stats.isDirectory())
    return [fail(name, `${home} is not a folder.`, "Set MUSTER_HOME to a folder.")];
  if (!isWritable(home)) {
    return [
      fail(
        name,
        `${home} is not writable.`,
        `Give it to the user who runs the server: chown -R "$USER" ${home}`,
      ),
    ];
  }
  return [
    isPrivate(stats)
      ? ok(name, `${home} (mode ${modeOf(stats)})`)
      : notPrivate(name, home, stats, "700"),
    checkRoom(home),
  ];
}

export function checkOwnerKey(config: Config): Finding {
  const name = "owner key";
  const path = ownerKeyPath(config);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) {
    return warn(name, `${path} does not exist.`, "The next start creates one: npm start");
  }
  if (!isPrivate(stats)) return { ...notPrivate(name, path, stats, "600"), level: "fail" };
  return ok(name, `${path} (mode ${modeOf(stats)})`);
}

function checkRoom(home: string): Finding {
  const name = "disk";
  const { bavail, bsize } = statfsSync(home);
  const free = bavail * bsize;
  const text = `${formatBytes(free)} free`;
  const mend = "Free some space, or move MUSTER_HOME to a larger disk.";
  if (free < FULL_BYTES) return fail(name, text, mend);
  return free < LOW_BYTES ? warn(name, text, mend) : ok(name, text);
}

function notPrivate(name: string, path: string, stats: Stats, mode: string): Finding {
  return warn(
    name,
    `${path} can be read by others (mode ${modeOf(stats)}).`,
    `chmod ${mode} ${path}`,
  );
}

function isPrivate(stats: Stats): boolean {
  // Windows has no such modes.
  return process.platform === "win32" || (stats.mode & OTHERS) === 0;
}

function modeOf(stats: Stats): string {
  return (stats.mode & 0o777).toString(8).padStart(4, "0");
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
