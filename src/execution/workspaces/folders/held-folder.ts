/**
 * A folder of the machine that was checked and is then held, because others can reach it too: an
 * agent of another session, or a command left in the background, may move it away and put a link in
 * its place. Held by a descriptor, the folder cannot be mistaken for another; every use first
 * checks that its path still leads to it, through no link.
 */
import { closeSync, constants, fstatSync, openSync, readlinkSync, realpathSync } from "node:fs";
import { refused } from "../repository/repository-rules.ts";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
const IS_LINUX = process.platform === "linux";
/** Flag that only names a folder, so it need not be readable. Node has no name for it. */
const O_PATH = IS_LINUX ? 0o10000000 : O_RDONLY;

export interface HeldFolder {
  /** Real path of the folder. */
  readonly path: string;
  /** `device:inode`, as `stat -c %d:%i` writes it. */
  readonly identity: string;
  /** Refuses when the path leads elsewhere by now, or to a place where no agent may work. */
  check(): void;
  /** Refuses a folder that was opened in its place. */
  checkOpened(descriptor: number): void;
  close(): void;
}

export interface HoldOptions {
  /** Identity of the folder when it was last held; null if it never was. */
  known?: string | null;
  /** Refuses paths where no agent may work. */
  checkPath(path: string): void;
}

export function holdFolder(path: string, { known = null, checkPath }: HoldOptions): HeldFolder {
  const held = openPlain(path);
  let isOpen = true;
  const identity = identityOf(held);
  const check = () => {
    const now = openPlain(path);
    try {
      if (identityOf(now) !== identity) throw replaced();
    } finally {
      closeSync(now);
    }
    checkPath(path);
  };
  try {
    if (known !== null && inodeOf(known) !== inodeOf(identity)) throw replaced();
    checkPath(path);
  } catch (error) {
    closeSync(held);
    throw error;
  }
  return {
    path,
    identity,
    check,
    checkOpened(descriptor) {
      if (identityOf(descriptor) !== identity) throw replaced();
    },
    close() {
      if (isOpen) closeSync(held);
      isOpen = false;
    },
  };
}

/**
 * Opens without following a link anywhere on the way: the kernel's own name for it must be the
 * path.
 */
function openPlain(path: string): number {
  let fd: number;
  try {
    fd = openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  } catch {
    throw replaced();
  }
  try {
    const real = IS_LINUX ? readlinkSync(`/proc/self/fd/${fd}`) : realpathSync(path);
    if (real !== path) throw replaced();
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function identityOf(fd: number): string {
  const { dev, ino } = fstatSync(fd, { bigint: true });
  return `${dev}:${ino}`;
}

/** A machine may number its devices anew at each start, so across starts only the inode is compared. */
function inodeOf(identity: string): string | undefined {
  return identity.split(":")[1];
}

function replaced() {
  return refused(
    "The folder was replaced by another one or by a link. Restore it, or start a new session.",
  );
}
