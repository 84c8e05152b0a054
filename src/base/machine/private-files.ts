/**
 * Files and folders that only their owner may read: keys, tokens, databases and copies of them.
 * Tightens our own files that are too open, and refuses files of somebody else.
 */
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { Refusal } from "../refusal.ts";

const OTHERS = 0o077;
const OTHERS_MAY_WRITE = 0o022;
const STICKY = 0o1000;
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Creates the folder, or tightens an existing one. */
export function ensurePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
  const stats = statSync(path);
  if (!stats.isDirectory()) throw notPrivate(`${path} is not a folder.`, "Name a folder.");
  if ((stats.mode & STICKY) !== 0)
    throw notPrivate(`${path} is a shared folder.`, "Name a folder inside it.");
  requireOwn(path, stats);
  tighten(path, stats, FOLDER_MODE);
}

/** Tightens a file if it exists. A link is accepted if both the link and its target are ours. */
export function ensurePrivateFile(path: string): void {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (!link) return;
  requireOwn(path, link);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw notPrivate(`${path} is a broken link.`, `Remove it: rm ${quoted(path)}`);
  if (!stats.isFile())
    throw notPrivate(
      `${path} is not a file.`,
      `Move it away: mv ${quoted(path)} ${quoted(`${path}.old`)}`,
    );
  requireOwn(path, stats);
  tighten(path, stats, FILE_MODE);
}

/**
 * Refuses a folder in which others could replace our files. A sticky one, such as /tmp, is fine:
 * others may add files there, but not replace ours.
 */
export function requireSafeFolder(path: string): void {
  if (process.platform === "win32") return;
  const { mode } = statSync(path);
  if ((mode & OTHERS_MAY_WRITE) === 0 || (mode & STICKY) !== 0) return;
  throw notPrivate(
    `Others can write to ${path} and replace the database in it.`,
    `Remove that right, then start again: chmod go-w ${quoted(path)}`,
  );
}

/**
 * Writes a file whole or not at all, with mode 0600. The draft is created exclusively under a random
 * name, so neither an old file nor a planted link decides what is written or who may read it.
 */
export function writePrivateFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
  const draft = draftOf(path);
  try {
    const file = openSync(draft, "wx", FILE_MODE);
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/**
 * Like `writePrivateFile`, without blocking the event loop, for files that are written again and
 * again.
 */
export async function savePrivateFile(path: string, text: string): Promise<void> {
  const draft = draftOf(path);
  try {
    const file = await open(draft, "wx", FILE_MODE);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

function draftOf(path: string): string {
  return `${path}.${randomBytes(6).toString("hex")}.new`;
}

/** Creates an empty file with mode 0600, replacing any file of that name. */
export function createPrivateFile(path: string): void {
  rmSync(path, { force: true });
  closeSync(openSync(path, "wx", FILE_MODE));
}

function tighten(path: string, stats: Stats, mode: number): void {
  if (process.platform === "win32" || (stats.mode & OTHERS) === 0) return;
  const command = `chmod ${mode.toString(8)} ${quoted(path)}`;
  // Only root can change the mode of root's files; inside our own folder others cannot reach them.
  if (stats.uid === 0 && process.getuid?.() !== 0) return;
  try {
    chmodSync(path, mode);
  } catch (error) {
    throw notPrivate(
      `${path} can be read by others (${(error as Error).message}).`,
      `Run: ${command}`,
      error,
    );
  }
  if ((statSync(path).mode & OTHERS) === 0) return;
  throw notPrivate(
    `${path} can be read by others, and its file system does not support file modes (${command} has no effect).`,
    "Set MUSTER_HOME to a folder on a file system that supports them.",
  );
}

/**
 * Refuses files of other users. Root's files are accepted: root could read and replace everything
 * anyway.
 */
function requireOwn(path: string, { uid }: Stats): void {
  const self = process.getuid?.();
  if (self === undefined || uid === self || uid === 0) return;
  throw notPrivate(
    `${path} belongs to another user (uid ${uid}), who can read and replace it.`,
    `Change its owner to the user who runs Muster: chown -R ${self} ${quoted(path)}`,
  );
}

function notPrivate(what: string, next: string, cause?: unknown): Refusal {
  return new Refusal("invalid", "files_not_private", `${what} ${next}`, { cause });
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}
