/** The only SQL on runners. */
import { type Reader, statements, type Tx } from "#base/store/index.ts";
import type { KernelTables, RunnerRow } from "#engine/schema.ts";
import { HELD_STATES } from "#engine/transitions/run-transitions.ts";
import {
  AVAILABILITY_COLUMNS,
  availabilityOf,
  type RunnerAvailability,
} from "./runner-capabilities.ts";

const prepare = statements<KernelTables>();

const upsertRunnerRow = prepare<RunnerRow, unknown>((db, p) =>
  db
    .insertInto("runners")
    .values({
      id: p("id"),
      org_id: p("org_id"),
      owner_id: p("owner_id"),
      created_by: p("created_by"),
      scope: p("scope"),
      credential_id: p("credential_id"),
      name: p("name"),
      hostname: p("hostname"),
      folder: p("folder"),
      project_dir: p("project_dir"),
      profile: p("profile"),
      tags: p("tags"),
      runtimes: p("runtimes"),
      capacity: p("capacity"),
      version: p("version"),
      protocol: p("protocol"),
      state: p("state"),
      ready: p("ready"),
      boot_id: p("boot_id"),
      server_id: p("server_id"),
      ends_with_server: p("ends_with_server"),
      models: p("models"),
      sandbox: p("sandbox"),
      disk: p("disk"),
      machine: p("machine"),
      unsandboxed: p("unsandboxed"),
      last_seen_at: p("last_seen_at"),
      created_at: p("created_at"),
    })
    .onConflict((conflict) =>
      conflict.column("id").doUpdateSet({
        // A machine may come back with another person's token, under another name or elsewhere.
        owner_id: p("owner_id"),
        hostname: p("hostname"),
        folder: p("folder"),
        profile: p("profile"),
        scope: p("scope"),
        credential_id: p("credential_id"),
        name: p("name"),
        project_dir: p("project_dir"),
        tags: p("tags"),
        runtimes: p("runtimes"),
        capacity: p("capacity"),
        version: p("version"),
        protocol: p("protocol"),
        state: p("state"),
        ready: p("ready"),
        boot_id: p("boot_id"),
        server_id: p("server_id"),
        ends_with_server: p("ends_with_server"),
        models: p("models"),
        sandbox: p("sandbox"),
        disk: p("disk"),
        machine: p("machine"),
        unsandboxed: p("unsandboxed"),
        last_seen_at: p("last_seen_at"),
      }),
    ),
);
export function upsertRunner(tx: Tx, row: RunnerRow): Promise<number> {
  return tx.run(upsertRunnerRow, row);
}

const selectRunner = prepare<{ id: string }, RunnerRow>((db, p) =>
  db.selectFrom("runners").selectAll().where("id", "=", p("id")),
);
export function findRunner(reader: Reader, id: string): Promise<RunnerRow | undefined> {
  return reader.first(selectRunner, { id });
}
const selectRunnerByMachine = prepare<{ orgId: string; machine: string }, { id: string }>((db, p) =>
  db
    .selectFrom("runners")
    .select("id")
    .where("org_id", "=", p("orgId"))
    .where("machine", "=", p("machine")),
);
export async function findRunnerOfMachine(
  reader: Reader,
  orgId: string,
  machine: string,
): Promise<string | undefined> {
  return (await reader.first(selectRunnerByMachine, { orgId, machine }))?.id;
}
const selectRunnerLocked = prepare<{ id: string }, RunnerRow>((db, p, dialect) => {
  const query = db.selectFrom("runners").selectAll().where("id", "=", p("id"));
  return dialect === "postgres" ? query.forUpdate() : query;
});
export function lockRunner(tx: Tx, id: string): Promise<RunnerRow | undefined> {
  return tx.first(selectRunnerLocked, { id });
}

const updateModels = prepare<{ id: string; bootId: string; models: string }, unknown>((db, p) =>
  db
    .updateTable("runners")
    .set({ models: p("models"), ready: 1 })
    .where("id", "=", p("id"))
    .where("boot_id", "=", p("bootId")),
);
export function setRunnerModels(
  tx: Tx,
  change: { id: string; bootId: string; models: string },
): Promise<number> {
  return tx.run(updateModels, change);
}

const updateSandbox = prepare<{ id: string; bootId: string; sandbox: string }, unknown>((db, p) =>
  db
    .updateTable("runners")
    .set({ sandbox: p("sandbox") })
    .where("id", "=", p("id"))
    .where("boot_id", "=", p("bootId")),
);
export function setRunnerSandbox(
  tx: Tx,
  change: { id: string; bootId: string; sandbox: string },
): Promise<number> {
  return tx.run(updateSandbox, change);
}

const updateDisk = prepare<{ id: string; bootId: string; disk: string }, unknown>((db, p) =>
  db
    .updateTable("runners")
    .set({ disk: p("disk") })
    .where("id", "=", p("id"))
    .where("boot_id", "=", p("bootId")),
);
export function setRunnerDisk(
  tx: Tx,
  change: { id: string; bootId: string; disk: string },
): Promise<number> {
  return tx.run(updateDisk, change);
}

const updateConsent = prepare<{ id: string; unsandboxed: string | null }, unknown>((db, p) =>
  db
    .updateTable("runners")
    .set({ unsandboxed: p("unsandboxed") })
    .where("id", "=", p("id")),
);
export function setConsent(
  tx: Tx,
  change: { id: string; unsandboxed: string | null },
): Promise<number> {
  return tx.run(updateConsent, change);
}

const selectRunners = prepare<{ orgId: string }, RunnerRow>((db, p) =>
  db
    .selectFrom("runners")
    .selectAll()
    .where("org_id", "=", p("orgId"))
    .orderBy("created_at")
    .orderBy("id"),
);
export function listRunners(reader: Reader, orgId: string): Promise<RunnerRow[]> {
  return reader.all(selectRunners, { orgId });
}

const selectAvailability = prepare<
  { orgId: string },
  Pick<RunnerRow, (typeof AVAILABILITY_COLUMNS)[number]>
>((db, p) =>
  db.selectFrom("runners").select(AVAILABILITY_COLUMNS).where("org_id", "=", p("orgId")),
);
/** All runners of an organisation, as runs are matched against them. */
export async function listRunnerAvailability(
  reader: Reader,
  orgId: string,
): Promise<RunnerAvailability[]> {
  return (await reader.all(selectAvailability, { orgId })).map(availabilityOf);
}

const selectRunnerIds = prepare<{ credentialId: string }, { id: string }>((db, p) =>
  db.selectFrom("runners").select("id").where("credential_id", "=", p("credentialId")),
);
/** Runners that registered with this token. */
export async function listRunnerIds(reader: Reader, credentialId: string): Promise<string[]> {
  return (await reader.all(selectRunnerIds, { credentialId })).map(({ id }) => id);
}

interface RunnerStateChange {
  id: string;
  bootId: string;
  state: RunnerRow["state"];
  /** Server that it is connected to from now on; null for none. */
  serverId: string | null;
  /** Server that reports the change. */
  by: string;
  now: number;
}
const updateRunnerState = prepare<RunnerStateChange, unknown>((db, p) =>
  db
    .updateTable("runners")
    .set({ state: p("state"), server_id: p("serverId"), last_seen_at: p("now") })
    .where("id", "=", p("id"))
    .where("boot_id", "=", p("bootId"))
    .where((eb) => eb.or([eb("server_id", "is", null), eb("server_id", "=", p("by"))])),
);
/**
 * Changes nothing when the runner has moved to another server: a connection that broke here is not
 * its state.
 */
export function setRunnerState(tx: Tx, change: RunnerStateChange): Promise<number> {
  return tx.run(updateRunnerState, change);
}

export interface OtherServer {
  server_id: string;
  /** Time when it last confirmed one of its runners. */
  confirmed_at: number;
}
const selectOtherServers = prepare<{ serverId: string }, OtherServer>((db, p) =>
  db
    .selectFrom("runners")
    .select((eb) => ["server_id", eb.fn.max("last_seen_at").as("confirmed_at")])
    .where("server_id", "is not", null)
    .where("server_id", "!=", p("serverId"))
    .groupBy("server_id")
    .$castTo<OtherServer>(),
);
/** Servers that other runners are connected to, according to their rows. */
export function listOtherServers(reader: Reader, serverId: string): Promise<OtherServer[]> {
  return reader.all(selectOtherServers, { serverId });
}

const selectRunnersOf = prepare<{ serverId: string }, RunnerRow>((db, p) =>
  db.selectFrom("runners").selectAll().where("server_id", "=", p("serverId")),
);
export function listRunnersOf(reader: Reader, serverId: string): Promise<RunnerRow[]> {
  return reader.all(selectRunnersOf, { serverId });
}

const updateAbandoned = prepare<{ serverId: string }, unknown>((db, p) =>
  db
    .updateTable("runners")
    .set({ state: "offline", server_id: null })
    .where("server_id", "=", p("serverId")),
);
/** Marks the runners of a dead server offline. */
export function markAbandoned(tx: Tx, serverId: string): Promise<number> {
  return tx.run(updateAbandoned, { serverId });
}

const updateUnconfirmed = prepare<{ before: number }, unknown>((db, p) =>
  db
    .updateTable("runners")
    .set({ state: "offline", server_id: null })
    .where("state", "!=", "offline")
    .where("last_seen_at", "<", p("before")),
);
/** Marks runners offline that no server has confirmed since then. */
export function markUnconfirmed(tx: Tx, before: number): Promise<number> {
  return tx.run(updateUnconfirmed, { before });
}

const updateOthersOffline = prepare<{ serverId: string }, unknown>((db, p) =>
  db
    .updateTable("runners")
    .set({ state: "offline", server_id: null })
    .where("state", "!=", "offline")
    .where((eb) => eb.or([eb("server_id", "is", null), eb("server_id", "!=", p("serverId"))])),
);
/** Marks every runner offline that is not connected to this server, which is alone. */
export function markOthersOffline(tx: Tx, serverId: string): Promise<number> {
  return tx.run(updateOthersOffline, { serverId });
}

const updateOfflineOf = prepare<{ serverId: string }, unknown>((db, p) =>
  db
    .updateTable("runners")
    .set({ state: "offline" })
    .where("server_id", "=", p("serverId"))
    .where("state", "!=", "offline"),
);
/** Shows the runners of a server offline, and remembers their server until it is taken for dead. */
export function markOfflineOf(tx: Tx, serverId: string): Promise<number> {
  return tx.run(updateOfflineOf, { serverId });
}

const deleteRunnerRow = prepare<{ id: string; orgId: string }, unknown>((db, p) =>
  db.deleteFrom("runners").where("id", "=", p("id")).where("org_id", "=", p("orgId")),
);
export function deleteRunner(tx: Tx, orgId: string, id: string): Promise<number> {
  return tx.run(deleteRunnerRow, { id, orgId });
}

const countHeld = prepare<{ orgId: string }, { runner_id: string; n: number }>((db, p) =>
  db
    .selectFrom("runs")
    .select((eb) => ["runner_id as runner_id", eb.fn.countAll<number>().as("n")])
    .where("org_id", "=", p("orgId"))
    .where("state", "in", HELD_STATES)
    .where("runner_id", "is not", null)
    .groupBy("runner_id")
    .$narrowType<{ runner_id: string }>(),
);
export function countHeldByRunner(
  reader: Reader,
  orgId: string,
): Promise<{ runner_id: string; n: number }[]> {
  return reader.all(countHeld, { orgId });
}
