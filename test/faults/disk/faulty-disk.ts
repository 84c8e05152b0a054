/**
 * The disk behind disk-shim.c, controlled from outside: cut its power, fill it, break it, repair
 * it.
 */
import { spawnSync } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Cleanup } from "#test/services/servers/cleanup.ts";
import type { Random } from "../random.ts";
import { RoundUnavailable } from "../round.ts";

const SOURCE = fileURLToPath(new URL("./disk-shim.c", import.meta.url));
const BLOCK_BYTES = 4096;
const CONTROL_BYTES = { full: 0, broken: 1 } as const;

export class FaultyDisk {
  /** Environment of the process that uses this disk. */
  readonly env: Record<string, string>;
  readonly #home: string;
  readonly #shadow: string;
  readonly #control: string;

  private constructor(library: string, home: string, folder: string) {
    this.#home = home;
    this.#shadow = join(folder, "shadow");
    this.#control = join(folder, "control");
    mkdirSync(this.#shadow);
    writeFileSync(this.#control, "00");
    this.env = {
      LD_PRELOAD: library,
      FAULTS_HOME: home,
      FAULTS_SHADOW: this.#shadow,
      FAULTS_CONTROL: this.#control,
    };
  }

  /** Throws `RoundUnavailable` where it cannot be built. */
  static create(cleanup: Cleanup, home: string): FaultyDisk {
    if (process.platform !== "linux") throw new RoundUnavailable("the faulty disk needs Linux");
    const folder = cleanup.createFolder();
    const library = join(folder, "disk-shim.so");
    const args = ["-O2", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl", "-lpthread"];
    const { status, error, stderr } = spawnSync("cc", args, { encoding: "utf8" });
    if (error) throw new RoundUnavailable("no C compiler");
    if (status !== 0) throw new RoundUnavailable(`disk-shim.c does not compile here: ${stderr}`);
    return new FaultyDisk(library, home, folder);
  }

  set(what: keyof typeof CONTROL_BYTES, on: boolean): void {
    const file = openSync(this.#control, "r+");
    writeSync(file, on ? "1" : "0", CONTROL_BYTES[what]);
    closeSync(file);
  }

  /**
   * Restores the state after a power loss. The process must be dead. Unsynced writes are lost, or,
   * if `torn`, some of their blocks survive at random.
   */
  losePower(random: Random, torn: boolean): void {
    for (const name of readdirSync(this.#home)) {
      if (!/\.db(-wal|-shm)?$/.test(name)) continue;
      const file = join(this.#home, name);
      const synced = join(this.#shadow, name);
      const unsynced = readFileSync(file);
      rmSync(file);
      if (!existsSync(synced)) continue;
      const kept = readFileSync(synced);
      writeFileSync(file, torn ? mix(kept, unsynced, random) : kept);
      copyFileSync(file, synced);
    }
  }
}

function mix(synced: Buffer, unsynced: Buffer, random: Random): Buffer {
  const mixed = Buffer.alloc(Math.max(synced.length, unsynced.length));
  let length = synced.length;
  synced.copy(mixed);
  for (let at = 0; at < unsynced.length; at += BLOCK_BYTES) {
    if (random.chance(0.5)) continue;
    const end = Math.min(at + BLOCK_BYTES, unsynced.length);
    unsynced.copy(mixed, at, at, end);
    length = Math.max(length, end);
  }
  return mixed.subarray(0, length);
}
