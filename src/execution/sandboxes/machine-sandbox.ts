/**
 * The sandbox of this machine. Bubblewrap where it works; without isolation only by the settings, or
 * by a consent that the server sent to the runner and may take back at any time.
 *
 *     none ⇄ local       with the consent
 *     none, local → bubblewrap   as soon as a probe of it passes; for the rest of the process
 *
 * The machine never goes from bubblewrap to local: commands allowed for a sandbox must not be run
 * without one. When it leaves `local`, commands that run there are killed and its sandboxes refuse.
 */
import type { Log } from "#base/log.ts";
import { Refusal } from "#base/refusal.ts";
import type { SandboxReport } from "#protocol/reports/sandbox-report.ts";
import { SANDBOX_UNAVAILABLE } from "#protocol/reports/sandboxes.ts";
import type { Sandbox, SandboxProbe, SandboxProvider, SandboxSpec } from "./sandbox.ts";

export interface MachineSandboxOptions {
  /** Setting of this machine: `local` for no isolation, whatever else works. */
  setting: "bubblewrap" | "local";
  bubblewrap: SandboxProvider;
  local: SandboxProvider;
  log: Log;
}

const REVOKED = "Work without a sandbox is no longer allowed on this machine.";

export class MachineSandbox {
  readonly #options: MachineSandboxOptions;
  readonly #opened = new Set<Sandbox>();
  #isConsented = false;
  #probe: SandboxProbe = { usable: false, why: "The sandbox has not been checked yet." };
  #probing: Promise<void> | undefined;
  #mode: "none" | "bubblewrap" | "local" = "none";
  /** Counts changes of the mode: a sandbox opened before one is not used after it. */
  #epoch = 0;

  constructor(options: MachineSandboxOptions) {
    this.#options = options;
  }

  /** True while looking again could find something better. */
  get isLacking(): boolean {
    return this.#options.setting === "bubblewrap" && this.#mode !== "bubblewrap";
  }

  /** Checks if bubblewrap works, by using it. */
  look(): Promise<void> {
    this.#probing ??= this.#look().finally(() => {
      this.#probing = undefined;
    });
    return this.#probing;
  }

  async #look(): Promise<void> {
    const { setting, bubblewrap, local } = this.#options;
    if (this.#mode === "bubblewrap") return;
    const wanted = setting === "local" ? local : bubblewrap;
    this.#probe = await wanted.probe().catch(
      (error: unknown): SandboxProbe => ({
        usable: false,
        why: `The sandbox could not be checked: ${(error as Error).message}`,
      }),
    );
    await this.#settle();
  }

  /** Follows the consent that the server sends. */
  async consent(isConsented: boolean): Promise<void> {
    if (this.#isConsented === isConsented) return;
    this.#isConsented = isConsented;
    await this.#settle();
  }

  async #settle(): Promise<void> {
    const { setting, log } = this.#options;
    const before = this.#mode;
    if (this.#probe.usable) this.#mode = setting;
    else this.#mode = this.#isConsented ? "local" : "none";
    if (this.#mode === before) return;
    this.#epoch += 1;
    if (this.#mode === "local")
      log.warn({}, "agents run commands on this machine without a sandbox");
    else if (this.#mode === "bubblewrap") log.info({}, "commands run in bubblewrap");
    const ended = [...this.#opened];
    this.#opened.clear();
    await Promise.allSettled(ended.map((sandbox) => sandbox.close()));
  }

  report(): SandboxReport {
    const probe = this.#probe;
    if (probe.usable)
      return { kind: this.#options.setting, why: null, fix: null, enforced: { ...probe.enforced } };
    // The fix stays: the consent holds for as long as there is nothing better.
    const { why, fix = null } = probe;
    return this.#mode === "local"
      ? { kind: "local", why: null, fix, enforced: {} }
      : { kind: "bubblewrap", why, fix, enforced: {} };
  }

  /** Refusal that `current` would throw; null for none. */
  refusal(): Refusal | null {
    if (this.#mode !== "none" || this.#probe.usable) return null;
    return new Refusal("unavailable", SANDBOX_UNAVAILABLE, this.#probe.why);
  }

  /** Provider to open sandboxes with now. Refuses where there is none. */
  current(): SandboxProvider {
    const refusal = this.refusal();
    if (refusal) throw refusal;
    const { bubblewrap, local } = this.#options;
    const epoch = this.#epoch;
    const provider = this.#mode === "local" ? local : bubblewrap;
    return {
      kind: provider.kind,
      probe: () => provider.probe(),
      isCurrent: () => epoch === this.#epoch,
      open: async (spec) => this.#open(provider, spec, epoch),
    };
  }

  async #open(provider: SandboxProvider, spec: SandboxSpec, epoch: number): Promise<Sandbox> {
    this.#require(epoch);
    const sandbox = await provider.open(spec);
    if (epoch !== this.#epoch) await sandbox.close();
    this.#require(epoch);
    this.#opened.add(sandbox);
    return {
      ...sandbox,
      run: (command) => {
        this.#require(epoch);
        return sandbox.run(command);
      },
      close: async () => {
        this.#opened.delete(sandbox);
        await sandbox.close();
      },
    };
  }

  #require(epoch: number): void {
    if (epoch !== this.#epoch)
      throw this.refusal() ?? new Refusal("unavailable", SANDBOX_UNAVAILABLE, REVOKED);
  }
}
