/**
 * Measures what folders take up on the disk, a little at a time. The walk works for a few milliseconds
 * and then rests for longer, so that a workspace with a million files takes minutes instead of the
 * runner's attention. Agents choose the names, permissions and depth of what is walked:
 *
 * - Folders are read in small pieces, because one folder may hold millions of names.
 * - Paths begin at an open folder, and a new one is opened before they get too long for the system.
 * - A folder that was replaced after it was listed, such as by a link, is not entered.
 * - Names are bytes; one that is no text is found all the same.
 */
import {
  chmodSync,
  closeSync,
  constants,
  type Dir,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
} from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export interface Usage {
  bytes: number;
  /** Names of files and folders. */
  files: number;
  /** False if some part could not be measured: it is unreadable, or nested too deep. */
  isWhole: boolean;
}

export const NO_USAGE: Usage = { bytes: 0, files: 0, isWhole: true };

export interface MeasureOptions {
  signal?: AbortSignal | undefined;
  /** Makes folders readable that their owner made unreadable. Only for folders of the runner's own. */
  opensUp?: boolean;
  /** Folder that is left out. */
  except?: string;
  /** Called with the figures so far whenever the walk rests. */
  onRest?: ((soFar: Usage) => void) | undefined;
  /** The walk stops, not whole, when it has found more names than this. */
  maxFiles?: number;
}

const WORK_MS = 3;
const REST_MS = 12;
const BLOCK_BYTES = 512;
const NAMES_AT_ONCE = 256;
/** Systems accept paths of up to 4096 bytes, and a name has up to 255. */
const MAX_PATH_BYTES = 3_000;
/** Open folders that paths begin at. Folders nested deeper than these reach are not measured. */
const MAX_BASES = 64;
const OWNER_MAY_LIST = 0o500;
const OWNER_MAY_ALL = 0o700;
const PERMISSIONS = 0o7777;
const HAS_PROC = existsSync("/proc/self/fd");
/**
 * Linux flag that Node does not name. Opens a folder that may not be read, to change its
 * permissions.
 */
const O_PATH = 0o10_000_000;

/** An open folder that the paths of its subfolders begin at. */
interface Base {
  fd: number | null;
  /** Path with one character per byte. */
  path: string;
  /** The base is closed when fewer folders than this are waiting. */
  waiting: number;
}

interface Folder {
  base: Base;
  /** Path below the base. */
  path: string;
  /** `device:inode` when it was listed; null for the tops. */
  id: string | null;
}

/** Measures without following links. Stops early, with the figures so far, when the signal aborts. */
export async function measureFolders(
  folders: readonly string[],
  options: MeasureOptions = {},
): Promise<Usage> {
  const walk = new Walk(folders, options);
  try {
    await walk.run();
  } finally {
    walk.close();
  }
  return walk.usage;
}

class Walk {
  readonly usage: Usage = { ...NO_USAGE };
  readonly #options: MeasureOptions;
  readonly #waiting: Folder[];
  readonly #bases: Base[] = [];
  readonly #seen = new Set<string>();
  readonly #except: string | null;
  #restAt = performance.now() + WORK_MS;

  constructor(folders: readonly string[], options: MeasureOptions) {
    this.#options = options;
    this.#waiting = folders.map((folder) => ({
      base: { fd: null, path: Buffer.from(folder).toString("latin1"), waiting: 0 },
      path: "",
      id: null,
    }));
    const { except } = options;
    const found = except === undefined ? null : lstatSync(except, { throwIfNoEntry: false });
    this.#except = found ? idOf(found) : null;
  }

  async run(): Promise<void> {
    for (let next = this.#waiting.pop(); next; next = this.#waiting.pop()) {
      while ((this.#bases.at(-1)?.waiting ?? 0) > this.#waiting.length) this.#closeBase();
      const isStopped = await this.#enter(next);
      if (isStopped) return;
    }
  }

  close(): void {
    while (this.#bases.length > 0) this.#closeBase();
  }

  #closeBase(): void {
    const fd = this.#bases.pop()?.fd;
    if (typeof fd === "number") closeSync(fd);
  }

  /** Returns true if the walk is to stop. */
  async #enter(folder: Folder): Promise<boolean> {
    const fd = this.#open(folder);
    if (fd === null) return false;
    let base = folder;
    let isKept = false;
    try {
      if (folder.path.length > MAX_PATH_BYTES && HAS_PROC) {
        if (this.#bases.length >= MAX_BASES) {
          this.usage.isWhole = false;
          return false;
        }
        const opened = { fd, path: selfPath(fd), waiting: this.#waiting.length };
        this.#bases.push(opened);
        isKept = true;
        base = { base: opened, path: "", id: null };
      }
      return await this.#list(HAS_PROC ? `${selfPath(fd)}/` : `${pathOf(folder)}/`, base);
    } catch (error) {
      if (isHidden(error)) this.usage.isWhole = false;
      return false;
    } finally {
      if (!isKept) closeSync(fd);
    }
  }

  /** Returns null if the folder is gone, was replaced, or cannot be read. */
  #open(folder: Folder): number | null {
    const path = bytesOf(pathOf(folder));
    let fd: number | undefined;
    try {
      fd = this.#openReadable(path);
      const stats = fstatSync(fd);
      const isSame = folder.id === null || folder.id === idOf(stats);
      const isListed = (stats.mode & OWNER_MAY_LIST) === OWNER_MAY_LIST;
      if (isSame && !isListed && this.#options.opensUp === true)
        fchmodSync(fd, (stats.mode & PERMISSIONS) | OWNER_MAY_ALL);
      if (isSame) return fd;
      this.usage.isWhole = false;
    } catch (error) {
      if (isHidden(error)) this.usage.isWhole = false;
    }
    if (fd !== undefined) closeSync(fd);
    return null;
  }

  #openReadable(path: Buffer): number {
    const flags = constants.O_DIRECTORY | constants.O_NOFOLLOW;
    try {
      return openSync(path, constants.O_RDONLY | flags);
    } catch (error) {
      const isDenied = (error as NodeJS.ErrnoException).code === "EACCES";
      if (!isDenied || this.#options.opensUp !== true || !HAS_PROC) throw error;
      const denied = openSync(path, O_PATH | flags);
      try {
        chmodSync(selfPath(denied), (fstatSync(denied).mode & PERMISSIONS) | OWNER_MAY_ALL);
      } finally {
        closeSync(denied);
      }
      return openSync(path, constants.O_RDONLY | flags);
    }
  }

  /** Counts the entries of an open folder; true when the walk is to stop. */
  async #list(at: string, { base, path }: Folder): Promise<boolean> {
    const entries: Dir = opendirSync(bytesOf(at) as unknown as string, {
      bufferSize: NAMES_AT_ONCE,
      encoding: "latin1",
    });
    try {
      for (let entry = entries.readSync(); entry; entry = entries.readSync()) {
        const id = this.#count(bytesOf(`${at}${entry.name}`));
        if (id !== null) this.#waiting.push({ base, path: `${path}/${entry.name}`, id });
        if (this.usage.files > (this.#options.maxFiles ?? Number.POSITIVE_INFINITY)) {
          this.usage.isWhole = false;
          return true;
        }
        if (performance.now() >= this.#restAt && (await this.#rest())) return true;
      }
    } finally {
      entries.closeSync();
    }
    return false;
  }

  /** Counts an entry, and returns its id if it is a folder to enter. */
  #count(path: Buffer): string | null {
    try {
      const stats = lstatSync(path);
      const isFolder = stats.isDirectory();
      const id = isFolder || stats.nlink > 1 ? idOf(stats) : "";
      if (isFolder && id === this.#except) return null;
      this.usage.files += 1;
      if (isFolder || stats.nlink <= 1) this.usage.bytes += stats.blocks * BLOCK_BYTES;
      else if (!this.#seen.has(id)) {
        // A file with two names takes its space once.
        this.#seen.add(id);
        this.usage.bytes += stats.blocks * BLOCK_BYTES;
      }
      return isFolder ? id : null;
    } catch (error) {
      if (isHidden(error)) this.usage.isWhole = false;
      return null;
    }
  }

  /** True when the signal has aborted. */
  async #rest(): Promise<boolean> {
    const { signal, onRest } = this.#options;
    onRest?.(this.usage);
    await sleep(REST_MS);
    this.#restAt = performance.now() + WORK_MS;
    return signal?.aborted === true;
  }
}

function pathOf({ base, path }: Folder): string {
  return `${base.path}${path}`;
}

function selfPath(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

function bytesOf(path: string): Buffer {
  return Buffer.from(path, "latin1");
}

function idOf({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`;
}

/** False for a file that was deleted meanwhile. */
function isHidden(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code !== "ENOENT" && code !== "ENOTDIR";
}
