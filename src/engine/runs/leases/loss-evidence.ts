/**
 * Evidence that clears a prompt when its attempt is lost: assignments that no runner ever accepted,
 * and runners that fell silent without ending. The evidence is kept in memory only: after a restart
 * of the server every loss is blameless anyway.
 */

/**
 * Reason why an attempt was taken from its runner. `stop_overdue`: it was told to end and did not
 * in time. `relocated`: its session was moved while its machine was away. `runner_dropped`: the
 * process that got the run does not hold it, because the assignment never arrived or its lease
 * could not be renewed in time.
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

/** Silent runners that are remembered; the leases of earlier ones have long ended. */
const MAX_SILENT = 1_000;

export class LossEvidence {
  /** Fence by run, for assignments that were sent and not accepted yet. */
  readonly #unaccepted = new Map<string, number>();
  /** Boot ids of runners whose connection was given up because nothing came from them. */
  readonly #silent = new Set<string>();

  sent({ run, fence }: RunRef): void {
    this.#unaccepted.set(run, fence);
  }

  /** Notes that an assignment arrived; any frame about its run shows it. */
  accepted(attempt: RunRef): void {
    this.forget(attempt);
  }

  /** Forgets an attempt that is over, and whose loss has been judged. */
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
