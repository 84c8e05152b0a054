/** File system of a folder: the free space, and the space that must stay free. */
import { statfsSync } from "node:fs";

export interface Space {
  freeBytes: number;
  totalBytes: number;
  freeFiles: number;
  /** 0 where the file system has no fixed number. */
  totalFiles: number;
}

export type ReadSpace = (folder: string) => Space;

export const readSpace: ReadSpace = (folder) => {
  const { bavail, blocks, bsize, ffree, files } = statfsSync(folder);
  return {
    freeBytes: bavail * bsize,
    totalBytes: blocks * bsize,
    freeFiles: ffree,
    totalFiles: files,
  };
};

const MIN_FLOOR_BYTES = 1024 ** 3;
/** Large disks are often used to the last few percent. */
const MAX_FLOOR_BYTES = 2 * 1024 ** 3;
const FLOOR_SHARE = 0.05;
/** A small disk must stay usable. */
const MAX_FLOOR_SHARE = 0.25;
const FLOOR_FILES_SHARE = 0.01;

/** Bytes to keep free: 5 % of the disk, from 1 to 2 GiB, but never over a quarter of it. */
export function floorOf({ totalBytes }: Space, setBytes: number | null): number {
  if (setBytes !== null) return setBytes;
  const share = Math.max(MIN_FLOOR_BYTES, totalBytes * FLOOR_SHARE);
  const wanted = Math.min(share, MAX_FLOOR_BYTES);
  return Math.floor(Math.min(wanted, totalBytes * MAX_FLOOR_SHARE));
}

/** True when less than `times` the floor is free. File systems also run out of files. */
export function isBelow(space: Space, floorBytes: number, times = 1): boolean {
  if (space.freeBytes < floorBytes * times) return true;
  return space.totalFiles > 0 && space.freeFiles < space.totalFiles * FLOOR_FILES_SHARE * times;
}

/** Weight of a file besides its bytes: file systems also run out of files. */
export const BYTES_PER_FILE = 4096;

/** True if inodes, not bytes, are running out. */
export function lacksFiles(space: Space, floorBytes: number): boolean {
  return space.freeBytes >= floorBytes && isBelow(space, floorBytes);
}

const QUOTA_SHARE = 0.25;
/** All workspaces of one person together never get more than half of a disk. */
const PERSON_SHARE = 0.5;

export function personLimitOn({ totalBytes }: Space): number {
  return Math.floor(totalBytes * PERSON_SHARE);
}

export interface Quota {
  bytes: number;
  files: number;
}

/** One workspace never gets more than a quarter of its disk, whatever is set. */
export function quotaOn({ totalBytes, totalFiles }: Space, set: Quota): Quota {
  const files = totalFiles > 0 ? Math.floor(totalFiles * QUOTA_SHARE) : set.files;
  return {
    bytes: Math.min(set.bytes, Math.floor(totalBytes * QUOTA_SHARE)),
    files: Math.min(set.files, files),
  };
}

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB"];

/** Size for people and models: `1.5 GiB`. */
export function sizeText(bytes: number): string {
  let size = bytes;
  let unit = 0;
  for (; size >= 1024 && unit < UNITS.length - 1; unit++) size /= 1024;
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`;
}
