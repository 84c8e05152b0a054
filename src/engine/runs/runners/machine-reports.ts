/**
 * Reports of a connected runner about its machine: its sandbox and its disk. Turns that waited for
 * them continue.
 */

import type { RunnerRow } from "#engine/schema.ts";
import type { RunnerFrame, RunnerProfile } from "#protocol/frames.ts";
import { DISK_LOW, type DiskReport } from "#protocol/reports/disk-report.ts";
import { SANDBOX_UNAVAILABLE } from "#protocol/reports/sandboxes.ts";
import { resumeSoon } from "../claims/resume-paused.ts";
import type { ConnectionHost } from "./connection-host.ts";
import { setRunnerDisk } from "./runner-queries.ts";
import { storedDisk } from "./runners.ts";
import { reportSandbox } from "./sandbox-consent.ts";

export class MachineReports {
  readonly #host: Pick<ConnectionHost, "engine" | "log" | "ready">;
  /** True for a runner whose disk is almost full, which gets no work. */
  isDiskLow = false;

  constructor(host: Pick<ConnectionHost, "engine" | "log" | "ready">) {
    this.#host = host;
  }

  /** Handles a registration, whose reports are stored with the runner's row. */
  registered({ org_id }: RunnerRow, { sandbox, disk }: RunnerProfile): void {
    if (sandbox?.why === null) resumeSoon(this.#host, org_id, SANDBOX_UNAVAILABLE);
    this.isDiskLow = disk?.isLow ?? false;
    if (disk?.isLow === false) resumeSoon(this.#host, org_id, DISK_LOW);
  }

  async report(
    runner: RunnerRow,
    frame: Extract<RunnerFrame, { op: "sandbox" | "disk" }>,
  ): Promise<void> {
    if (frame.op === "sandbox") await reportSandbox(this.#host, runner, frame.sandbox);
    else await this.#reportDisk(runner, frame.disk);
  }

  async #reportDisk(runner: RunnerRow, report: DiskReport): Promise<void> {
    const { engine } = this.#host;
    const { id, boot_id: bootId } = runner;
    // Set at once, even if the report cannot be stored: work must not go to a full disk.
    if (report.isLow) this.isDiskLow = true;
    await engine.store.transaction((tx) =>
      setRunnerDisk(tx, { id, bootId, disk: storedDisk(report, tx.now) }),
    );
    engine.announcer.hint("runners", "runner", id);
    // Cleared only now: a report that could not be stored is sent again, and must still find it
    // low.
    const wasLow = this.isDiskLow;
    this.isDiskLow = report.isLow;
    if (!wasLow || report.isLow) return;
    resumeSoon(this.#host, runner.org_id, DISK_LOW);
    this.#host.ready();
  }
}
