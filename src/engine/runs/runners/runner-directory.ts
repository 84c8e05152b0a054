/** Runners as their callers see them. */
import { notFound } from "#base/refusal.ts";
import type { Reader } from "#base/store/index.ts";
import { may, type Principal, principalKey, requireMay } from "#engine/requests/principal.ts";
import type { RunnerRow } from "#engine/schema.ts";
import { command, type Engine } from "#engine/work.ts";
import type { ModelCapability } from "#protocol/models.ts";
import type { Page } from "#protocol/page.ts";
import type { Runner } from "#protocol/runs.ts";
import type { Dispatcher } from "../claims/dispatcher.ts";
import { freeWorkspaces } from "../claims/unpin.ts";
import { freeHeldRuns } from "../leases/leases.ts";
import { countHeldByRunner, deleteRunner, findRunner, listRunners } from "./runner-queries.ts";
import { runnerView } from "./runners.ts";
import { type ConsentChange, changeConsent, lookForSandbox } from "./sandbox-consent.ts";

/** True unless it is another person's own machine; admins see all. */
function isSeenBy(principal: Principal, row: RunnerRow): boolean {
  if (row.owner_id === null || may(principal, "runner.manage", { orgId: row.org_id })) return true;
  // An agent works for its owner, on the owner's machines too.
  const personId = principal.kind === "session" ? principal.ownerId : userIdOf(principal);
  return row.owner_id === personId;
}

function userIdOf(principal: Principal): string | null {
  return principal.kind === "user" ? principal.userId : null;
}

/** Models of the connected runners; usable when any runner can use them. */
export async function listModelCapabilities(
  reader: Reader,
  principal: Principal,
): Promise<ModelCapability[]> {
  const rows = await listRunners(reader, principal.orgId);
  const offers = new Map<string, ModelCapability>();
  for (const row of rows.filter((one) => one.state === "online" && isSeenBy(principal, one))) {
    for (const offer of JSON.parse(row.models) as ModelCapability[])
      if (!offers.get(offer.id)?.usable) offers.set(offer.id, offer);
  }
  return [...offers.values()];
}

/** True while a connected runner has not found out all its models: what it lacks may yet come. */
export async function isFindingModels(reader: Reader, principal: Principal): Promise<boolean> {
  const rows = await listRunners(reader, principal.orgId);
  return rows.some((row) => row.state === "online" && row.ready === 0 && isSeenBy(principal, row));
}

/** Runtimes of all runners that this principal sees; true when a connected one offers it. */
export async function listRuntimeNames(
  reader: Reader,
  principal: Principal,
): Promise<Map<string, boolean>> {
  const names = new Map<string, boolean>();
  const rows = await listRunners(reader, principal.orgId);
  for (const row of rows.filter((one) => isSeenBy(principal, one))) {
    for (const name of JSON.parse(row.runtimes) as string[])
      names.set(name, names.get(name) === true || row.state === "online");
  }
  return names;
}

export function createRunnerDirectory(engine: Engine, dispatcher: Dispatcher) {
  const { store } = engine;

  /** Finds a runner that the caller manages: people their own machines, admins all. */
  async function find(principal: Principal, id: string): Promise<RunnerRow> {
    requireMay(principal, "runner.own");
    const row = await store.read((reader) => findRunner(reader, id));
    const isAdmin = may(principal, "runner.manage", { orgId: principal.orgId });
    const isOwn = principal.kind === "user" && row?.owner_id === principal.userId;
    if (row?.org_id !== principal.orgId || !(isAdmin || isOwn)) throw notFound("runner");
    return row;
  }

  return {
    async list(principal: Principal): Promise<Page<Runner>> {
      requireMay(principal, "runner.read");
      return store.read(async (reader) => {
        const rows = await listRunners(reader, principal.orgId);
        const running = new Map(
          (await countHeldByRunner(reader, principal.orgId)).map((row) => [row.runner_id, row.n]),
        );
        const shown = rows.filter((row) => isSeenBy(principal, row));
        return { items: shown.map((row) => runnerView(row, running.get(row.id) ?? 0)), next: null };
      });
    },

    /** Runtimes that can be run now, or could be if their runner were connected. */
    async runtimes(
      principal: Principal,
    ): Promise<{ name: string; available: boolean; reason: string | null }[]> {
      requireMay(principal, "session.read");
      const names = await store.read((reader) => listRuntimeNames(reader, principal));
      return [...names].map(([name, available]) => ({
        name,
        available,
        reason: available ? null : "No connected runner provides it.",
      }));
    },

    async models(principal: Principal): Promise<ModelCapability[]> {
      requireMay(principal, "session.read");
      return store.read((reader) => listModelCapabilities(reader, principal));
    },

    /** Gives or takes back the consent to work without a sandbox on a machine. */
    async changeConsent(principal: Principal, change: ConsentChange): Promise<Runner> {
      return runnerView(await changeConsent(engine, principal, change), 0);
    },

    async lookForSandbox(principal: Principal, id: string): Promise<Runner> {
      return runnerView(await lookForSandbox(engine, principal, id), 0);
    },

    /** Credential of the runner, so that the caller can revoke it first. */
    async credentialOf(principal: Principal, id: string): Promise<string> {
      return (await find(principal, id)).credential_id;
    },

    /**
     * Forgets a runner and ends the connections of its token, which the caller has revoked. Its
     * runs go to others at once: its later writes have a stale fence.
     */
    async remove(principal: Principal, id: string): Promise<void> {
      const row = await find(principal, id);
      const { orgId } = principal;
      await command(engine, async (work) => {
        await deleteRunner(work.tx, orgId, id);
        const by = principalKey(principal);
        await work.reportChange({ orgId, by, area: "runner", action: "removed", subjectId: id });
      });
      await dispatcher.drop(row.credential_id, "runner removed");
      await freeHeldRuns(engine, id, [], () => "runner_revoked");
      await freeWorkspaces(engine, id);
    },
  };
}
