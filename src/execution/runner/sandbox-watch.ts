/** Reports the machine's sandbox to the server, and applies the server's consent to it. */
import type { Clock } from "#base/clock.ts";
import type { Log } from "#base/log.ts";
import type { SandboxReport } from "#protocol/reports/sandbox-report.ts";
import { CoalescedTask } from "./coalesced-task.ts";

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
  readonly #reporting: CoalescedTask;
  #isWatching = false;

  constructor(options: SandboxWatchOptions) {
    this.#options = options;
    const { clock, left, log } = options;
    this.#reporting = new CoalescedTask("report the sandbox", clock, left, log);
  }

  /**
   * Applies the server's record. It is always answered with a report, so that a waiting page is
   * updated.
   */
  applyServerRecord({
    unsandboxed = false,
    look = false,
  }: {
    unsandboxed?: boolean;
    look?: boolean;
  }): void {
    const { sandbox, send } = this.#options;
    // Applied at once, whatever the connection is doing: a withdrawn consent must end immediately.
    const settled = sandbox.consent(unsandboxed);
    this.#reporting.request(async () => {
      await settled;
      if (look) await sandbox.look();
      await send(sandbox.report());
    });
    void this.#watch();
  }

  /** Checks from time to time while there is no sandbox, since somebody may install it. */
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
