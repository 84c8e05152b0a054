/**
 * Evidence that clears a prompt when its attempt is lost: assignments that no runner ever accepted,
 * and runners that fell silent without ending. It is kept in memory only: after a restart of the
 * server every loss is blameless anyway.
 */

/**
 * Why an attempt was taken from its runner. `stop_overdue`: it was told to end and did not in time.
 * `relocated`: its session was sent elsewhere while its machine was away.
 * `runner_dropped`: the process that was given the run does
 * not hold it, because the assignment never arrived or its lease could not be renewed in time.
 */
export type LossReason =
  | "lease_expired"
  | "stop_overdue"
  | "runner_dropped"
  | "runner_restarted"
  | "runner_revoked"
  | "server_died"
  | "relocated"
  | "released";

interface RunRef {
  run: string;
  fence: number;
}

/** Silent runners that are remembered; the leases of those that fell silent earlier have long ended. */
const MAX_SILENT = 1_000;

export class LossEvidence {
  /** Fence by run, of assignments that were sent and not accepted yet. */
  readonly #unaccepted = new Map<string, number>();
  /** Boot ids of runners whose connection was given up because nothing came from them. */
  readonly #silent = new Set<string>();

  sent({ run, fence }: RunRef): void {
    this.#unaccepted.set(run, fence);
  }

  /** Any frame about a run shows that its assignment arrived. */
  accepted(attempt: RunRef): void {
    this.forget(attempt);
  }

  /** The attempt is over, and its loss has been judged. */
  forget({ run, fence }: RunRef): void {
    if (this.#unaccepted.get(run) === fence) this.#unaccepted.delete(run);
  }

  fellSilent(bootId: string): void {
    this.#silent.add(bootId);
    if (this.#silent.size <= MAX_SILENT) return;
    const [oldest] = this.#silent;
    if (oldest !== undefined) this.#silent.delete(oldest);
  }

  cameBack(bootId: string): void {
    this.#silent.delete(bootId);
  }

  clears({ run, fence }: RunRef, bootId: string | null): boolean {
    return this.#unaccepted.get(run) === fence || (bootId !== null && this.#silent.has(bootId));
  }
}
