// Everything a test run starts or writes outside the project, with a guarantee that it is removed.
// A watcher process holds the list and acts when its input ends, so a run that crashes or is killed
// with SIGKILL leaves nothing behind either.
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { chmodSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const WATCHER = fileURLToPath(new URL("./cleanup-watcher.ts", import.meta.url));

export class Cleanup {
  readonly #watcher: ChildProcess;

  constructor() {
    this.#watcher = spawn(process.execPath, [WATCHER], {
      detached: true,
      stdio: ["pipe", "ignore", "inherit"],
    });
    this.#watcher.stdin?.on("error", () => {});
  }

  /** Creates a folder that is removed at the end. */
  createFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), "muster-test-"));
    chmodSync(folder, 0o755);
    this.#tell("folder", folder);
    return folder;
  }

  /** Starts a program as the head of its own process group, which is killed at the end. */
  spawn(file: string, args: string[], options: SpawnOptions = {}): ChildProcess {
    const child = spawn(file, args, { ...options, detached: true });
    const { pid } = child;
    if (pid !== undefined) {
      this.#tell("group", String(pid));
      child.once("exit", () => this.#tell("group-ended", String(pid)));
    }
    return child;
  }

  /** Resolves when everything is gone. */
  async finish(): Promise<void> {
    const gone = new Promise((resolve) => this.#watcher.once("exit", resolve));
    this.#watcher.stdin?.end();
    await gone;
  }

  #tell(what: string, value: string): void {
    this.#watcher.stdin?.write(`${what} ${value}\n`);
  }
}
