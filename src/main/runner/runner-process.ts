/**
 * The runner as a child of the server: started, watched, and restarted when it dies. It ends with its parent,
 * however the parent ends, because its standard input closes.
 */
import { type ChildProcess, spawn } from "node:child_process";
import type { Log } from "#base/log.ts";

export interface RunnerProcess {
  /** Drains the runner, then ends it. */
  stop(): Promise<void>;
  kill(): void;
}

const RESTART_FIRST_MS = 50;
const RESTART_MAX_MS = 5_000;
/** A runner that lived this long was healthy; its next failure is a new one. */
const WELL_AFTER_MS = 30_000;

export function superviseRunner(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  log: Log,
): RunnerProcess {
  let child: ChildProcess | undefined;
  let stopping = false;
  let pauseMs = RESTART_FIRST_MS;
  let timer: NodeJS.Timeout | undefined;

  function start(): void {
    const startedAt = Date.now();
    child = spawn(process.execPath, [...process.execArgv, ...args], {
      stdio: ["pipe", "inherit", "inherit"],
      env,
    });
    child.on("exit", (code, signal) => {
      child = undefined;
      if (stopping) return;
      if (Date.now() - startedAt > WELL_AFTER_MS) pauseMs = RESTART_FIRST_MS;
      log.warn({ code, signal, pauseMs }, "the runner ended; starting it again");
      timer = setTimeout(start, pauseMs);
      pauseMs = Math.min(pauseMs * 2, RESTART_MAX_MS);
    });
  }
  start();

  return {
    async stop() {
      stopping = true;
      clearTimeout(timer);
      const running = child;
      if (!running) return;
      const ended = new Promise((resolve) => running.once("exit", resolve));
      running.kill("SIGTERM");
      await ended;
    },
    kill() {
      stopping = true;
      clearTimeout(timer);
      child?.kill("SIGKILL");
    },
  };
}
