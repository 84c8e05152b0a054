/**
 * Assembles the kernel for surfaces and features: commands over sessions, prompts, runs, runners
 * and gates, and the loops that move them. The kernel knows no feature by name.
 */
import { randomUUID } from "node:crypto";
import type { Bus } from "#base/bus/bus.ts";
import type { Clock } from "#base/clock.ts";
import type { Ids } from "#base/ids.ts";
import type { Log } from "#base/log.ts";
import type { Store } from "#base/store/index.ts";
import { DEFAULT_TURN_LIMITS, type TurnLimits } from "#protocol/frames.ts";
import { createAnnouncer } from "./announce.ts";
import type { Deliverer, Feature, Person } from "./feature.ts";
import { GATE_TIMER, gateTimerDue } from "./gates/index.ts";
import { kernelMigrations } from "./migrations.ts";
import { createNoticeRenderer, type RenderNotice } from "./notices/render-notice.ts";
import { Housekeeping } from "./retention/housekeeping.ts";
import { kernelRetention } from "./retention/kernel-retention.ts";
import { purgePerson } from "./retention/purge-person.ts";
import { Dispatcher } from "./runs/claims/dispatcher.ts";
import { LossEvidence } from "./runs/leases/loss-evidence.ts";
import { createRunTokens } from "./runs/runners/run-tokens.ts";
import { createRunnerDirectory } from "./runs/runners/runner-directory.ts";
import type { Briefing } from "./runs/runners/turn-material.ts";
import { createRuns } from "./runs/runs.ts";
import { COLLECT_TIMER } from "./sessions/prompts/admit-prompt.ts";
import { callbackText, promptParentWhenDone } from "./sessions/prompts/callback.ts";
import { collectTimerDue } from "./sessions/prompts/collect.ts";
import { createPrompts } from "./sessions/prompts/prompts.ts";
import type { SessionDefaults } from "./sessions/session-defaults.ts";
import { createSessions } from "./sessions/sessions.ts";
import { Sweeps } from "./timers/sweeps.ts";
import { createAgents } from "./tools/agents.ts";
import {
  callText,
  createDeferredCalls,
  DEFERRED_CALL,
  keepDeferredCall,
} from "./tools/deferred-calls.ts";
import { createCatalogue, createToolHost, createToolPolicy, type Tool } from "./tools/index.ts";
import type { Engine } from "./work.ts";
import { createWorkspaceReads } from "./workspaces/reads.ts";

export interface KernelOptions {
  store: Store;
  bus: Bus;
  clock: Clock;
  ids: Ids;
  log: Log;
  defaults: SessionDefaults;
  features: readonly Feature[];
  tools?: readonly Tool[];
  turnLimits?: TurnLimits;
  /** Idle time after which a session hibernates. */
  idleMs?: number;
  /** Signs run tokens; servers that share a database share it. */
  secretKey?: string;
}

const IDLE_MS = 15 * 60_000;

function briefingOf(features: readonly Feature[]): Briefing {
  return {
    briefers: features.flatMap(({ brief }) => brief ?? []),
    registrars: features.flatMap(({ register }) => register ?? []),
    hasBrief: (session) => features.some((feature) => feature.hasBrief?.(session)),
  };
}

export type Kernel = Awaited<ReturnType<typeof createKernel>>;

export async function createKernel({
  store,
  bus,
  clock,
  ids,
  log,
  defaults,
  features,
  tools = [],
  turnLimits = DEFAULT_TURN_LIMITS,
  idleMs = IDLE_MS,
  secretKey = randomUUID(),
}: KernelOptions) {
  await store.migrate([
    ...kernelMigrations,
    ...features.flatMap((feature) => feature.migrations ?? []),
  ]);
  const serverId = ids.mint("srv");
  // Shown before any runner connects, so that nobody takes this server for dead.
  await store.showLiveness?.(serverId);
  const catalogue = createCatalogue([...tools, ...features.flatMap((one) => one.tools ?? [])]);
  const sessionTables = features.flatMap((feature) => feature.sessionTables ?? []);
  const deliverers: Record<string, Deliverer> = Object.assign(
    {},
    ...features.map((feature) => feature.deliverers ?? {}),
  );
  const judges = features.flatMap((feature) => (feature.judge ? [feature.judge] : []));
  const policy = createToolPolicy(catalogue, judges);
  const engine: Engine = {
    store,
    ids,
    clock,
    announcer: createAnnouncer(bus, serverId),
    listeners: listenersOf(features),
    defaults,
    toolName: (name) => catalogue.find(name)?.name,
    findDenial: policy.findDenial,
    delivers: (kind) => kind in deliverers,
    renderNotice: rendererOf(features),
    sessionTables,
    describers: features.flatMap((feature) => feature.describeSessions ?? []),
    sessionFilters: filtersOf(features),
    ...listersOf(features),
    serverId,
    evidence: new LossEvidence(),
  };
  const toolHost = createToolHost(engine, catalogue);
  const tokens = createRunTokens(secretKey);
  const dispatcher = new Dispatcher({
    engine,
    tools: toolHost,
    policy,
    openers: features.flatMap((feature) => feature.openRepository ?? []),
    config: { limits: turnLimits, catalogue, tokens, briefing: briefingOf(features) },
    log,
  });
  const retention = [...kernelRetention, ...features.flatMap((one) => one.retention ?? [])];
  const housekeeping = new Housekeeping({ engine, log, sessionTables, rules: retention });
  const sweeps = new Sweeps({
    engine,
    clock,
    log,
    timers: Object.assign(
      { [COLLECT_TIMER]: collectTimerDue, [GATE_TIMER]: gateTimerDue },
      ...features.map((feature) => feature.timers ?? {}),
    ),
    deliverers: { [DEFERRED_CALL]: createDeferredCalls(engine, catalogue), ...deliverers },
    sweepRunners: () => dispatcher.sweep(),
    idleMs,
    housekeeping,
    featureSweeps: features.flatMap((feature) => feature.sweeps ?? []),
  });
  const runners = createRunnerDirectory(engine, dispatcher);
  const removeRunner = ({ orgId }: Person, id: string) =>
    runners.remove({ kind: "system", orgId, name: "purge" }, id);
  return {
    engine,
    sessions: createSessions(engine, defaults),
    prompts: createPrompts(engine),
    runs: createRuns(engine, defaults),
    runners,
    agents: createAgents({ engine, catalogue, policy, tokens }),
    workspaces: createWorkspaceReads(engine),
    /** Removes a batch of a person's rows; true when none is left. */
    purgePerson: (person: Person) =>
      purgePerson({ engine, features, sessionTables, removeRunner }, person),
    routes: features.flatMap((feature) => feature.routes ?? []),
    dispatcher,
    sweeps,
    housekeeping,
    retention,
    /** Repairs what earlier servers left in the database, before anybody is served. */
    prepare: () => dispatcher.setRowsRight(),
    start: () => sweeps.start(),
    async stop() {
      await sweeps.stop();
      dispatcher.close();
    },
  };
}

function listenersOf(features: readonly Feature[]): Engine["listeners"] {
  const all = features.flatMap((feature) => feature.listeners ?? []);
  return [promptParentWhenDone, keepDeferredCall, ...all];
}

function rendererOf(features: readonly Feature[]): RenderNotice {
  const own = { callback: callbackText, call: callText };
  return createNoticeRenderer([own, ...features.map((feature) => feature.renderNotices)]);
}

function filtersOf(features: readonly Feature[]): Engine["sessionFilters"] {
  const all = features.flatMap(({ sessionFilters }) => Object.entries(sessionFilters ?? {}));
  return new Map(
    all.map(([name, place]) => {
      const [table = "", column = ""] = place.split(".");
      return [name, { table, column }];
    }),
  );
}

/** Queries that the kernel makes of the one feature that can answer. */
function listersOf(
  features: readonly Feature[],
): Pick<Engine, "listBindings" | "listRepoAddresses"> {
  return {
    listBindings: features.find((feature) => feature.listBindings)?.listBindings,
    listRepoAddresses: features.find((feature) => feature.listRepoAddresses)?.listRepoAddresses,
  };
}
