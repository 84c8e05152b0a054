/** Runners: their identity, their presence, and their capabilities. */

import { Refusal } from "#base/refusal.ts";
import { findDeadServers, type Reader, type Tx } from "#base/store/index.ts";
import type { RunnerRow, RunRow } from "#engine/schema.ts";
import { isoTime } from "#engine/sessions/log/event-view.ts";
import type { Engine } from "#engine/work.ts";
import { noteMachineBack } from "#engine/workspaces/queries.ts";
import { RUNNER_PROTOCOL, type RunnerProfile } from "#protocol/frames.ts";
import type { DiskReport } from "#protocol/reports/disk-report.ts";
import type { SandboxReport } from "#protocol/reports/sandbox-report.ts";
import { isIsolated } from "#protocol/reports/sandboxes.ts";
import type { Runner } from "#protocol/runs.ts";
import { freeHeldRuns, type RunRef } from "../leases/leases.ts";
import {
  type Claimant,
  identifyRunner,
  type RunnerIdentity,
  requireSameMachine,
} from "./runner-identity.ts";
import {
  findRunner,
  lockRunner,
  setRunnerModels,
  setRunnerState,
  upsertRunner,
} from "./runner-queries.ts";

/** Each server confirms its runners every few seconds; a runner unconfirmed for this long is gone. */
export const UNCONFIRMED_AFTER_MS = 7_000;

export interface Registration extends Claimant {
  protocol: number;
  holding: readonly RunRef[];
  /** False while the runner does not know its models yet. */
  ready: boolean;
  /** True while a connection of that boot is open on this server. */
  isConnected(runnerId: string, bootId: string): Promise<boolean>;
  /** Called before anything is changed, when no living connection is in the way. */
  accepted(runnerId: string): void;
  /** False when the wire is gone, or the runner has come back on another one. */
  isCurrent(): boolean;
}

export async function registerRunner(
  engine: Engine,
  registration: Registration,
): Promise<RunnerRow> {
  const { protocol, profile, bootId, holding } = registration;
  if (protocol > RUNNER_PROTOCOL || protocol < RUNNER_PROTOCOL - 1) {
    throw new Refusal(
      "conflict",
      "protocol_unsupported",
      `This server speaks runner protocol ${RUNNER_PROTOCOL}. Update the older of the two.`,
    );
  }
  const identity = await engine.store.read((reader) => identifyRunner(reader, registration));
  const { id } = identity;
  const before = await engine.store.read((reader) => findRunner(reader, id));
  if (before && before.boot_id !== bootId && (await registration.isConnected(id, before.boot_id)))
    throw duplicate(profile);
  // A frame that arrives after its wire was given up must not end a later connection.
  if (!registration.isCurrent()) throw replaced();
  registration.accepted(id);
  const row = await engine.store.transaction(async (tx) => {
    const known = await lockRunner(tx, id);
    requireSameMachine(known, identity);
    if (!registration.isCurrent()) throw replaced();
    if (known && known.boot_id !== bootId && (await isElsewhere(engine, tx, known)))
      throw duplicate(profile);
    const fresh = runnerRow(engine, registration, identity, tx.now, known);
    await upsertRunner(tx, fresh);
    await noteMachineBack(tx, id);
    return fresh;
  });
  // A new boot under the same identity means that the old process is gone; the same boot has
  // dropped the runs that it does not hold.
  const reasonFor = (run: RunRow) =>
    run.runner_boot === bootId ? "runner_dropped" : "runner_restarted";
  await freeHeldRuns(engine, id, holding, reasonFor, registration.isCurrent);
  engine.announcer.hint("runners", "runner", id);
  return row;
}

/**
 * True when another living server has confirmed it lately. The row of a dead server counts for
 * nothing: its connections are gone.
 */
async function isElsewhere(engine: Engine, tx: Tx, known: RunnerRow): Promise<boolean> {
  const { server_id: serverId, last_seen_at: seenAt } = known;
  if (serverId === null || serverId === engine.serverId) return false;
  if (tx.now - seenAt >= UNCONFIRMED_AFTER_MS) return false;
  return (await findDeadServers(tx, [serverId])).length === 0;
}

function replaced(): Refusal {
  return new Refusal(
    "conflict",
    "connection_replaced",
    "This runner has connected again since. Continue with the newer connection.",
  );
}

function duplicate({ hostname, folder }: RunnerProfile): Refusal {
  return new Refusal(
    "conflict",
    "duplicate_runner",
    `A runner for ${folder} on ${hostname} is already connected. Stop it, or give this one another folder or profile.`,
  );
}

function runnerRow(
  engine: Engine,
  { principal, bootId, profile, protocol, ready }: Registration,
  { id, machine }: RunnerIdentity,
  now: number,
  known: RunnerRow | undefined,
): RunnerRow {
  return {
    id,
    org_id: principal.orgId,
    owner_id: principal.scope.startsWith("user:") ? principal.scope.slice("user:".length) : null,
    created_by: `runner:${principal.credentialId}`,
    scope: principal.scope,
    credential_id: principal.credentialId,
    name: profile.name,
    hostname: profile.hostname,
    folder: profile.folder,
    project_dir: profile.projectDir,
    profile: profile.profile,
    tags: JSON.stringify([...new Set([...principal.tags, ...profile.tags])]),
    runtimes: JSON.stringify(profile.runtimes),
    capacity: profile.capacity,
    version: profile.version,
    protocol,
    state: "online",
    ready: ready ? 1 : 0,
    boot_id: bootId,
    server_id: engine.serverId,
    ends_with_server: profile.endsWithServer ? 1 : 0,
    models: JSON.stringify(profile.models),
    sandbox: profile.sandbox && storedSandbox(profile.sandbox, now),
    disk: profile.disk ? storedDisk(profile.disk, now) : null,
    unsandboxed: keptConsent(known, principal),
    machine,
    last_seen_at: now,
    created_at: known?.created_at ?? now,
  };
}

/**
 * Consent that a machine keeps. Consent is for a machine as it was let in: with another token, or
 * another owner, it has none; so a restored database revives no consent, because a restore revokes
 * all tokens.
 */
function keptConsent(
  known: RunnerRow | undefined,
  { scope, credentialId }: Registration["principal"],
): string | null {
  const isSame = known?.scope === scope && known.credential_id === credentialId;
  return isSame ? known.unsandboxed : null;
}

/** Records the models a runner has found; from now on it can get work. */
export async function recordModels(
  engine: Engine,
  runner: RunnerRow,
  models: RunnerProfile["models"],
): Promise<void> {
  await engine.store.transaction((tx) =>
    setRunnerModels(tx, { id: runner.id, bootId: runner.boot_id, models: JSON.stringify(models) }),
  );
  engine.announcer.hint("runners", "runner", runner.id);
}

export async function markRunner(
  engine: Engine,
  runner: RunnerRow,
  state: RunnerRow["state"],
): Promise<void> {
  await engine.store.transaction((tx) =>
    setRunnerState(tx, {
      id: runner.id,
      bootId: runner.boot_id,
      state,
      serverId: state === "offline" ? null : engine.serverId,
      by: engine.serverId,
      now: tx.now,
    }),
  );
  engine.announcer.hint("runners", "runner", runner.id);
}

export function runnerView(row: RunnerRow, running: number): Runner {
  return {
    id: row.id,
    name: row.name,
    hostname: row.hostname,
    projectDir: row.project_dir,
    profile: row.profile,
    tags: JSON.parse(row.tags) as string[],
    runtimes: JSON.parse(row.runtimes) as string[],
    capacity: row.capacity,
    state: row.state,
    ready: row.ready === 1,
    running,
    ownerId: row.owner_id,
    sandbox: sandboxOf(row),
    disk: diskOf(row),
    unsandboxed: consentOf(row),
    version: row.version,
    lastSeenAt: isoTime(row.last_seen_at),
    createdAt: isoTime(row.created_at),
  };
}

/** Sandbox report of a row; rows of earlier versions lack newer fields. */
export function sandboxOf({ sandbox }: Pick<RunnerRow, "sandbox">): Runner["sandbox"] {
  if (sandbox === null) return null;
  const stored = JSON.parse(sandbox) as Partial<SandboxReport & { at: string }>;
  return { kind: "unknown", why: null, fix: null, enforced: {}, at: null, ...stored };
}

/** Sandbox report with the time of the check. */
export function storedSandbox(report: SandboxReport, now: number): string {
  return JSON.stringify({ ...report, at: isoTime(now) });
}

/** Last disk report of a runner; null when it has never reported one. */
export function diskOf({ disk }: Pick<RunnerRow, "disk">): Runner["disk"] {
  return disk === null ? null : (JSON.parse(disk) as Runner["disk"]);
}

/** Disk report with its time. */
export function storedDisk(report: DiskReport, now: number): string {
  return JSON.stringify({ ...report, at: isoTime(now) });
}

function consentOf({ unsandboxed }: RunnerRow): Runner["unsandboxed"] {
  return unsandboxed === null ? null : (JSON.parse(unsandboxed) as Runner["unsandboxed"]);
}

/** True when the runner's commands are known to be isolated from its machine. */
export async function isIsolatedRunner(reader: Reader, runnerId: string | null): Promise<boolean> {
  const row = runnerId === null ? undefined : await findRunner(reader, runnerId);
  return row !== undefined && isIsolated(sandboxOf(row));
}
