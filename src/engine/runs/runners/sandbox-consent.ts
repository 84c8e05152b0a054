/**
 * Sandboxes of runners: their reports, and the consent to work without one. The consent is a record
 * of the server, per machine; a runner only learns if there is one.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import { may, type Principal, principalKey, requireMay } from "#engine/requests/principal.ts";
import type { RunnerRow } from "#engine/schema.ts";
import { isoTime } from "#engine/sessions/log/event-view.ts";
import { command, type Engine } from "#engine/work.ts";
import type { ServerFrame } from "#protocol/frames.ts";
import type { SandboxReport } from "#protocol/reports/sandbox-report.ts";
import { SANDBOX_UNAVAILABLE } from "#protocol/reports/sandboxes.ts";
import { type ResumeHost, resumeSoon } from "../claims/resume-paused.ts";
import { findRunner, lockRunner, setConsent, setRunnerSandbox } from "./runner-queries.ts";
import { sandboxOf, storedSandbox } from "./runners.ts";

/** Stores a machine's report. Turns that waited for a sandbox continue when it has one now. */
export async function reportSandbox(
  { engine, log }: ResumeHost,
  runner: RunnerRow,
  report: SandboxReport,
): Promise<void> {
  const before = await engine.store.transaction(async (tx) => {
    const { id, boot_id: bootId } = runner;
    const known = await lockRunner(tx, id);
    await setRunnerSandbox(tx, { id, bootId, sandbox: storedSandbox(report, tx.now) });
    return known ? sandboxOf(known) : null;
  });
  engine.announcer.hint("runners", "runner", runner.id);
  const isSame = before?.kind === report.kind && before.why === report.why;
  if (report.why === null && !isSame)
    resumeSoon({ engine, log }, runner.org_id, SANDBOX_UNAVAILABLE);
}

/** Keeps one runner informed of the consent that its machine has. */
export class ConsentNotifier {
  readonly #engine: Engine;
  readonly #send: (frame: ServerFrame) => void;
  /** Consent as last sent to the runner. */
  #sent = false;
  /** Sends are serial: an earlier read must not be sent later. */
  #sending: Promise<unknown> = Promise.resolve();

  constructor(engine: Engine, send: (frame: ServerFrame) => void) {
    this.#engine = engine;
    this.#send = send;
  }

  /** Consent for the answer to a registration. */
  note({ unsandboxed }: RunnerRow): boolean {
    this.#sent = unsandboxed !== null;
    return this.#sent;
  }

  /** Sends the current consent, if it has changed or the runner is to look for a sandbox. */
  send(runnerId: string, look = false): Promise<void> {
    const telling = this.#sending.then(() => this.#sendNow(runnerId, look));
    this.#sending = telling.catch(() => {});
    return telling;
  }

  async #sendNow(runnerId: string, look: boolean): Promise<void> {
    const row = await this.#engine.store.read((reader) => findRunner(reader, runnerId));
    if (!row) return;
    const before = this.#sent;
    const unsandboxed = this.note(row);
    if (look || unsandboxed !== before) this.#send({ op: "sandbox", unsandboxed, look });
  }
}

export interface ConsentChange {
  id: string;
  /** False takes the consent back. */
  allowed: boolean;
}

/**
 * Gives or takes back the consent. An admin gives it for a machine that works for everybody, and
 * its owner for a person's own machine; either may take it back.
 */
export async function changeConsent(
  engine: Engine,
  principal: Principal,
  { id, allowed }: ConsentChange,
): Promise<RunnerRow> {
  requireMay(principal, "runner.own");
  const { orgId } = principal;
  const row = await command(engine, async (work) => {
    const runner = await lockRunner(work.tx, id);
    if (!runner || !isManagedBy(principal, runner)) throw notFound("runner");
    if (allowed) requireConsentRight(principal, runner);
    if ((runner.unsandboxed !== null) === allowed) return runner;
    const by = principalKey(principal);
    const unsandboxed = allowed ? JSON.stringify({ by, at: isoTime(work.now) }) : null;
    await setConsent(work.tx, { id, unsandboxed });
    const action = allowed ? "unsandboxed_allowed" : "unsandboxed_revoked";
    await work.reportChange({ orgId, by, area: "runner", action, subjectId: id });
    return { ...runner, unsandboxed };
  });
  engine.announcer.hint("sandbox", allowed ? "allowed" : "revoked", id);
  engine.announcer.hint("runners", "runner", id);
  return row;
}

/** Asks a runner to check again for a sandbox on its machine; the runner reports the result. */
export async function lookForSandbox(
  engine: Engine,
  principal: Principal,
  id: string,
): Promise<RunnerRow> {
  requireMay(principal, "runner.own");
  const row = await engine.store.read((reader) => findRunner(reader, id));
  if (!row || !isManagedBy(principal, row)) throw notFound("runner");
  if (row.state === "offline") {
    throw new Refusal(
      "conflict",
      "runner_offline",
      "This runner is not connected. Start it: it checks for a sandbox when it starts.",
    );
  }
  engine.announcer.hint("sandbox", "look", id);
  return row;
}

/** True for admins on all machines, and for people on their own. */
function isManagedBy(principal: Principal, { org_id: orgId, owner_id }: RunnerRow): boolean {
  if (may(principal, "runner.manage", { orgId })) return true;
  return owner_id !== null && may(principal, "runner.own", { orgId, ownerId: owner_id });
}

function requireConsentRight(principal: Principal, { org_id: orgId, owner_id }: RunnerRow): void {
  if (may(principal, "runner.unsandbox", { orgId, ownerId: owner_id })) return;
  throw new Refusal(
    "forbidden",
    "consent_not_yours",
    owner_id === null
      ? "Only a signed-in admin, or the owner's key, may let agents work without a sandbox here. Sign in as an admin, or install bubblewrap."
      : "Only the machine's owner, signed in, may let agents work on it without a sandbox. Ask them.",
  );
}
