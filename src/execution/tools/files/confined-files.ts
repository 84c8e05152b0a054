/**
 * Files of a workspace, opened by the runner on behalf of an agent who may have prepared every name
 * in there: links at any level, swapped at any moment, pipes, devices, links into `/proc`.
 *
 * The kernel never resolves a whole path of the agent's. Each folder on the way is opened below the
 * one before it, by descriptor and without following links. A link is read, its target resolved as
 * the agent sees it, and the walk begun anew, so a link leads exactly where it leads inside the
 * sandbox, or is refused. Nothing is ever written through an existing file: new content gets a new
 * file, renamed into place, so a hard link cannot carry it elsewhere.
 */
import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  opendir,
  readlink,
  rename,
  unlink,
} from "node:fs/promises";
import { posix } from "node:path";
import type { Workspace } from "#execution/workspaces/workspace.ts";
import { locatePath } from "#protocol/names/workspace-paths.ts";
import { errnoOf, ToolProblem } from "../perform-tool.ts";

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
const MAX_LINKS = 20;
/** Machines without `/proc` open a folder by its path: they have no sandbox to escape from. */
const HAS_PROC = process.platform === "linux";

/** A folder of the machine, and its path for the agent. */
export interface Root {
  readonly inside: string;
  readonly folder: string;
  /** Checks that the folder is still the one that was checked, where others could replace it. */
  readonly held?: Workspace["held"];
}

/** A resolved path of the agent; `names` has no links, dots or empty parts in it. */
export interface ConfinedPath {
  readonly root: Root;
  readonly names: readonly string[];
}

export interface Folder {
  readonly handle: FileHandle;
  readonly path: string;
}

interface Entry {
  /** Open folder that holds the last name. The receiver closes it. */
  folder: Folder;
  /** Null for the root itself. */
  name: string | null;
  place: ConfinedPath;
}

export type OpenedPath =
  | { kind: "file"; handle: FileHandle; stats: Stats; shown: string }
  | { kind: "folder"; folder: Folder; place: ConfinedPath; shown: string };

export function filesOf(workspace: Workspace): ConfinedFiles {
  const roots: [Root, Root] = [
    {
      inside: workspace.sandbox.workspacePath,
      folder: workspace.folder,
      held: workspace.held,
    },
    { inside: workspace.scratchPath, folder: workspace.scratchFolder },
  ];
  return new ConfinedFiles(roots, workspace.meter);
}

export class ConfinedFiles {
  readonly #roots: readonly [Root, ...Root[]];
  readonly #room: Workspace["meter"];

  /** Relative paths begin at the first root. Nothing is written that `room` has no place for. */
  constructor(roots: readonly [Root, ...Root[]], room?: Workspace["meter"]) {
    this.#roots = roots;
    this.#room = room;
  }

  /** Resolves a path by its text alone. Refuses a path outside of every root. */
  locate(path: string): ConfinedPath {
    const inside = this.#roots.map((root) => root.inside);
    const found = locatePath(inside, path);
    if ("problem" in found) throw new ToolProblem(found.problem);
    return { root: this.#roots[found.root] as Root, names: found.names };
  }

  /** Path as an agent would write it: relative in the workspace, absolute elsewhere. */
  show({ root, names }: ConfinedPath): string {
    if (root === this.#roots[0]) return names.join("/") || ".";
    return posix.join(root.inside, ...names);
  }

  /** Opens a regular file or a folder for reading. */
  async open(path: string): Promise<OpenedPath> {
    const entry = await this.#find(this.locate(path));
    const { folder, name, place } = entry;
    const shown = this.show(place);
    if (name === null) return { kind: "folder", folder, place, shown };
    try {
      const target = childPath(folder, name);
      const seen = await lstat(target).catch((error: unknown) => {
        throw errnoOf(error) === "ENOENT" ? new MissingFile(shown) : error;
      });
      if (seen.isDirectory()) {
        return { kind: "folder", folder: await enterFolder(folder, name), place, shown };
      }
      if (!seen.isFile()) throw notRegular(shown, seen);
      const handle = await open(target, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      return await provenFile(handle, shown);
    } catch (error) {
      if (!(error instanceof MissingFile)) throw error;
      throw await withNearNames(error, folder, name);
    } finally {
      await folder.handle.close();
    }
  }

  /** Replaces a file by one with this content, at once or not at all. */
  async replace(path: string, content: string | Uint8Array): Promise<{ created: boolean }> {
    const bytes = Buffer.byteLength(content);
    await this.#room?.require(bytes);
    const { folder, name, place } = await this.#find(this.locate(path), true);
    try {
      const shown = this.show(place);
      if (name === null) throw new ToolProblem(`${shown} is a folder. Name a file.`);
      const old = await lstat(childPath(folder, name)).catch(noneIfMissing);
      if (old?.isDirectory()) throw new ToolProblem(`${shown} is a folder. Name a file.`);
      if (old && !old.isFile()) throw notRegular(shown, old);
      await replaceAt(folder, name, content, old);
      this.#room?.note(bytes);
      return { created: old === null };
    } finally {
      await folder.handle.close();
    }
  }

  /** Creates a new file for writing. */
  async create(path: string): Promise<FileHandle> {
    await this.#room?.require(0);
    const { folder, name } = await this.#find(this.locate(path), true);
    try {
      if (name === null) throw new ToolProblem(`${path} is a folder.`);
      return await open(childPath(folder, name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666);
    } finally {
      await folder.handle.close();
    }
  }

  /** Follows links, as the agent sees them, until the last name is none. */
  async #find(start: ConfinedPath, makeFolders = false): Promise<Entry> {
    let place = start;
    for (let links = 0; links <= MAX_LINKS; links++) {
      const found = await this.#descend(place, makeFolders);
      if ("folder" in found) return found;
      place = found.link;
    }
    throw new ToolProblem(`${this.show(start)} leads through too many links.`);
  }

  async #descend(
    place: ConfinedPath,
    makeFolders: boolean,
  ): Promise<Entry | { link: ConfinedPath }> {
    const { root, names } = place;
    let folder = await openRoot(root);
    try {
      for (const [index, name] of names.entries()) {
        const isLast = index === names.length - 1;
        const next = isLast ? null : await this.#enter(folder, name, place, index, makeFolders);
        if (next) {
          await folder.handle.close();
          folder = next;
          continue;
        }
        const target = await readLink(folder, name);
        if (target !== null) {
          await folder.handle.close();
          return { link: this.#follow(root, names, index, target) };
        }
        if (isLast) return { folder, name, place };
        throw new ToolProblem(
          `${this.show({ root, names: names.slice(0, index + 1) })} is not a folder.`,
        );
      }
      return { folder, name: null, place };
    } catch (error) {
      await folder.handle.close();
      throw error;
    }
  }

  /** Null when the name exists but is no folder; perhaps a link. */
  async #enter(
    folder: Folder,
    name: string,
    { root, names }: ConfinedPath,
    index: number,
    makeFolders: boolean,
  ): Promise<Folder | null> {
    try {
      return await enterFolder(folder, name);
    } catch (error) {
      const code = errnoOf(error);
      if (code === "ELOOP" || code === "ENOTDIR") return null;
      if (code !== "ENOENT") throw error;
    }
    if (!makeFolders) {
      const missing = new MissingFile(this.show({ root, names: names.slice(0, index + 1) }));
      throw await withNearNames(missing, folder, name);
    }
    await mkdir(childPath(folder, name)).catch((error: unknown) => {
      if (errnoOf(error) !== "EEXIST") throw error;
    });
    return await enterFolder(folder, name);
  }

  #follow(root: Root, names: readonly string[], index: number, target: string): ConfinedPath {
    const from = posix.join(root.inside, ...names.slice(0, index));
    try {
      return this.locate(posix.join(posix.resolve(from, target), ...names.slice(index + 1)));
    } catch {
      const link = this.show({ root, names: names.slice(0, index + 1) });
      throw new ToolProblem(
        `${link} is a link to a place outside the workspace, where files cannot be reached.`,
      );
    }
  }
}

/** Opens a child folder without following a link. */
export function enterFolder(folder: Folder, name: string): Promise<Folder> {
  return openFolder(childPath(folder, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
}

/** Path to a child of an open folder for the machine, whatever the folder's own path has become. */
export function childPath(folder: Folder, name: string): string {
  return `${selfPath(folder)}/${name}`;
}

/** Entries of an open folder, at most so many. */
export async function listFolder(folder: Folder, limit: number) {
  const entries = [];
  // A trailing slash opens the folder, not the link that stands for the descriptor.
  for await (const entry of await opendir(`${selfPath(folder)}/`, { bufferSize: 256 })) {
    entries.push(entry);
    if (entries.length >= limit) break;
  }
  return entries;
}

function selfPath(folder: Folder): string {
  return HAS_PROC ? `/proc/self/fd/${folder.handle.fd}` : folder.path;
}

async function openFolder(path: string, flags: number): Promise<Folder> {
  return { handle: await open(path, flags), path };
}

/** Checks the opened folder rather than its path, which could change in between. */
async function openRoot({ folder: path, held }: Root): Promise<Folder> {
  held?.check();
  const folder = await openFolder(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    held?.checkOpened(folder.handle.fd);
    return folder;
  } catch (error) {
    await folder.handle.close();
    throw error;
  }
}

async function readLink(folder: Folder, name: string): Promise<string | null> {
  try {
    return await readlink(childPath(folder, name));
  } catch (error) {
    const code = errnoOf(error);
    if (code === "EINVAL" || code === "ENOENT") return null;
    throw error;
  }
}

async function provenFile(handle: FileHandle, shown: string): Promise<OpenedPath> {
  const stats = await handle.stat();
  if (stats.isFile()) return { kind: "file", handle, stats, shown };
  await handle.close();
  throw notRegular(shown, stats);
}

async function replaceAt(
  folder: Folder,
  name: string,
  content: string | Uint8Array,
  old: Stats | null,
): Promise<void> {
  const draft = childPath(folder, `.muster-${randomBytes(9).toString("base64url")}.tmp`);
  const handle = await open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o666);
  try {
    try {
      await handle.writeFile(content);
      if (old) await keepMode(handle, old);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(draft, childPath(folder, name));
  } catch (error) {
    await unlink(draft).catch(() => {});
    throw error;
  }
}

async function keepMode(handle: FileHandle, old: Stats): Promise<void> {
  const { uid, gid } = await handle.stat();
  if (uid !== old.uid || gid !== old.gid) await handle.chown(old.uid, old.gid).catch(() => {});
  await handle.chmod(old.mode & 0o777);
}

export class MissingFile extends ToolProblem {
  constructor(shown: string, near: readonly string[] = []) {
    const guess = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
    super(`${shown} does not exist.${guess || " Search for it with glob."}`);
    this.shown = shown;
  }

  readonly shown: string;
}

const NEAR_LOOKED_AT = 2000;
const NEAR_SHOWN = 3;

async function withNearNames(missing: MissingFile, folder: Folder, name: string) {
  const entries = await listFolder(folder, NEAR_LOOKED_AT).catch(() => []);
  const parent = posix.dirname(missing.shown);
  const near = entries
    .map((entry) => ({ name: entry.name, away: distance(name, entry.name) }))
    .filter(({ away }) => away <= Math.max(1, Math.floor(name.length / 3)))
    .sort((a, b) => a.away - b.away)
    .slice(0, NEAR_SHOWN)
    .map((entry) => posix.join(parent, entry.name));
  return new MissingFile(missing.shown, near);
}

/** Edit distance; names that differ only in case are nearest. */
function distance(a: string, b: string): number {
  const [left, right] = [a.toLowerCase(), b.toLowerCase()];
  if (left === right) return 0;
  if (Math.abs(left.length - right.length) > left.length / 3 + 1) return Infinity;
  let row = Array.from({ length: right.length + 1 }, (_, i) => i);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const change = left[i - 1] === right[j - 1] ? 0 : 1;
      const [up = 0, diagonal = 0, before = 0] = [row[j], row[j - 1], next[j - 1]];
      next.push(Math.min(up + 1, before + 1, diagonal + change));
    }
    row = next;
  }
  return row[right.length] ?? Infinity;
}

function noneIfMissing(error: unknown): null {
  if (errnoOf(error) === "ENOENT") return null;
  throw error;
}

function notRegular(shown: string, stats: Stats): ToolProblem {
  let kind = "a device";
  if (stats.isFIFO()) kind = "a pipe";
  else if (stats.isSocket()) kind = "a socket";
  else if (stats.isSymbolicLink()) kind = "a link that changed while it was opened";
  return new ToolProblem(`${shown} is ${kind}, not a file. Use bash for it.`);
}
