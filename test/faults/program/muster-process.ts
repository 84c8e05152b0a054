/** The real program as a process that can be killed. */
import type { ChildProcess } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cleanup } from "#test/services/servers/cleanup.ts";

const START_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 10;

export interface Launch {
  cleanup: Cleanup;
  /** Arguments of Node: the program and its command. */
  args: string[];
  env: Record<string, string>;
  /** Its output is appended here. */
  logFile: string;
}

export class MusterProcess {
  readonly exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  readonly #child: ChildProcess;
  readonly #logFile: string;

  constructor({ cleanup, args, env, logFile }: Launch) {
    this.#logFile = logFile;
    const log = openSync(logFile, "a");
    this.#child = cleanup.spawn(process.execPath, ["--enable-source-maps", ...args], {
      env: { ...plainEnvironment(), ...env },
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    this.exit = new Promise((resolve) => {
      this.#child.once("exit", (code, signal) => resolve({ code, signal }));
    });
  }

  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error("the program could not be started");
    return pid;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Kills it and everything it started, as a crash of the machine would. */
  async kill(): Promise<void> {
    const { pid } = this.#child;
    if (pid === undefined || !this.isRunning) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // The process has just ended by itself.
    }
    await this.exit;
  }

  /** Stops it and everything it started, as a sleeping machine does. */
  freeze(): void {
    this.#signal("SIGSTOP");
  }

  /** Continues after `freeze`. */
  thaw(): void {
    this.#signal("SIGCONT");
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.#child;
    if (pid !== undefined && this.isRunning) process.kill(-pid, signal);
  }

  /** Asks it to end, and waits for its exit. */
  async stop(): Promise<void> {
    if (this.isRunning) this.#child.kill("SIGTERM");
    await this.exit;
  }

  /** Resolves when the server behind `url` takes requests. */
  async ready(url: string): Promise<void> {
    const deadline = Date.now() + START_WITHIN_MS;
    for (;;) {
      if (!this.isRunning)
        throw new Error(`the program ended while starting\n${tailOf(this.#logFile)}`);
      const answer = await fetch(`${url}/ready`, { signal: AbortSignal.timeout(2_000) }).catch(
        () => undefined,
      );
      if (answer?.ok) return;
      if (Date.now() > deadline)
        throw new Error(`the program was not ready in time\n${tailOf(this.#logFile)}`);
      await sleep(LOOK_EVERY_MS);
    }
  }
}

export function tailOf(logFile: string, lines = 15): string {
  if (!existsSync(logFile)) return "";
  return readFileSync(logFile, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
}

/** Our environment without any setting of the program. */
function plainEnvironment(): NodeJS.ProcessEnv {
  const foreign = Object.entries(process.env).filter(
    ([name]) => !/^(MUSTER_|ORCHESTRATION_|MINIMAL_UI|NODE_OPTIONS|LD_PRELOAD)/.test(name),
  );
  return Object.fromEntries(foreign);
}
