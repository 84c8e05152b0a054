/** Finds this process in the machine's control groups, from `/proc`. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

export type Controller = "pids" | "memory";

/** A folder below which groups can be made that control `controls`. */
export interface Branch {
  folder: string;
  controls: readonly Controller[];
  version: 1 | 2;
}

export interface Mount {
  root: string;
  at: string;
  version: 1 | 2;
  options: readonly string[];
}

const WANTED: readonly Controller[] = ["pids", "memory"];

/** Version 1 has a tree for each controller, version 2 one for all. Some machines have both mounted. */
export function findBranches(procFolder: string): Branch[] {
  try {
    const mounts = parseMounts(readFileSync(join(procFolder, "self/mountinfo"), "utf8"));
    const places = parsePlaces(readFileSync(join(procFolder, "self/cgroup"), "utf8"));
    return [...findFirst(mounts, places), ...findSecond(mounts, places)];
  } catch {
    return []; // No Linux, or no /proc.
  }
}

export function parseMounts(mountinfo: string): Mount[] {
  return mountinfo.split("\n").flatMap((line) => {
    const [head = "", tail = ""] = line.split(" - ");
    const [, , , root = "/", at = ""] = head.split(" ");
    const [type, , options = ""] = tail.split(" ");
    if (type !== "cgroup" && type !== "cgroup2") return [];
    return [{ root, at, version: type === "cgroup" ? 1 : 2, options: options.split(",") }];
  });
}

/** Path by controller; version 2 is under the empty name. */
export function parsePlaces(cgroup: string): Map<string, string> {
  const places = new Map<string, string>();
  for (const line of cgroup.split("\n")) {
    const [, names, ...path] = line.split(":");
    for (const name of names?.split(",") ?? []) places.set(name, path.join(":"));
  }
  return places;
}

function findFirst(mounts: readonly Mount[], places: ReadonlyMap<string, string>): Branch[] {
  const branches = new Map<string, Branch>();
  for (const controller of WANTED) {
    const mount = mounts.find(
      ({ version, options }) => version === 1 && options.includes(controller),
    );
    const place = places.get(controller);
    if (!mount || place === undefined) continue;
    const folder = folderOf(mount, place);
    const controls = [...(branches.get(folder)?.controls ?? []), controller];
    branches.set(folder, { folder, controls, version: 1 });
  }
  return [...branches.values()];
}

function findSecond(mounts: readonly Mount[], places: ReadonlyMap<string, string>): Branch[] {
  const mount = mounts.find(({ version }) => version === 2);
  const place = places.get("");
  if (!mount || place === undefined) return [];
  const own = folderOf(mount, place);
  // A group that has processes of its own delegates nothing, unless it is the root. A sibling can
  // be made where the folder above may be written, which is so for root and for a delegated tree.
  const folder = [own, dirname(own)].find((candidate) => handsDown(candidate));
  return folder ? [{ folder, controls: WANTED, version: 2 }] : [];
}

function handsDown(folder: string): boolean {
  const file = join(folder, "cgroup.subtree_control");
  const has = () => {
    const names = readFileSync(file, "utf8").trim().split(" ");
    return WANTED.every((controller) => names.includes(controller));
  };
  try {
    if (has()) return true;
    writeFileSync(file, WANTED.map((name) => `+${name}`).join(" "));
    return has();
  } catch {
    return false;
  }
}

function folderOf({ root, at }: Mount, place: string): string {
  const below = relative(root, place);
  return below.startsWith("..") ? at : join(at, below);
}
