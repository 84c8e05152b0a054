/** Keeps the server informed about the machine's sandbox, and the sandbox about the server's word. */
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { SandboxReport } from "#protocol/sandbox-report.ts";
import { Errand } from "./coalesced-task.ts";

const LOOK_EVERY_MS = 30_000;

/** The part of the machine's sandbox that a runner needs. */
export interface WatchedSandbox {
  readonly isLacking: boolean;
  report(): SandboxReport;
  look(): Promise<void>;
  consent(isConsented: boolean): Promise<void>;
}

export interface SandboxWatchOptions {
  sandbox: WatchedSandbox;
  clock: Clock;
  log: Log;
  /** Aborts when the runner has left. */
  left: AbortSignal;
  send(report: SandboxReport): Promise<unknown>;
}

export class SandboxWatch {
  readonly #options: SandboxWatchOptions;
  readonly #reporting: Errand;
  #isWatching = false;

  constructor(options: SandboxWatchOptions) {
    this.#options = options;
    const { clock, left, log } = options;
    this.#reporting = new Errand("report the sandbox", clock, left, log);
  }

  /** Follows the server's record. It is always answered with a report, so that a page sees the end. */
  told({ unsandboxed = false, look = false }: { unsandboxed?: boolean; look?: boolean }): void {
    const { sandbox, send } = this.#options;
    // At once, whatever the line to the server is doing: a consent that was taken back has ended.
    const settled = sandbox.consent(unsandboxed);
    this.#reporting.request(async () => {
      await settled;
      if (look) await sandbox.look();
      await send(sandbox.report());
    });
    void this.#watch();
  }

  /** Looks again from time to time while there is no sandbox: somebody may install it. */
  async #watch(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    const { sandbox, clock, left, log, send } = this.#options;
    while (sandbox.isLacking && !left.aborted) {
      await clock.sleep(LOOK_EVERY_MS, left);
      if (left.aborted) break;
      await sandbox
        .look()
        .catch((error: unknown) => log.warn({ err: error }, "no look at the sandbox"));
      if (!sandbox.isLacking)
        this.#reporting.request(async () => void (await send(sandbox.report())));
    }
    this.#isWatching = false;
  }
}
