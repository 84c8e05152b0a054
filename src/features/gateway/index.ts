/**
 * The model gateway: runners and agents reach the organisation's models through the server, for the turn they
 * hold and within its budget. The server meters each request from the provider's response.
 */
import { notFound, Refusal } from "#base/refusal.ts";
import type { Engine, Feature, Principal } from "#engine/index.ts";
import type { ConfiguredProvider } from "#features/providers/index.ts";
import { CallSlots } from "./call-slots.ts";
import {
  findProvider,
  listProviders,
  type ProviderSources,
  type ReachedProvider,
} from "./find-provider.ts";
import type { ModelRoute } from "./meter/format.ts";
import { readModelRequest } from "./meter/model-request.ts";
import { type AgentPrincipal, type GatewayParts, isStillHeld, openCall } from "./open-call.ts";
import { createPassage } from "./passage.ts";
import { gatewayMigrations } from "./schema.ts";
import { readSettings, requireOpen, settingsRoutes } from "./settings.ts";
import { abandonedCalls } from "./settle-call.ts";

export type { EnvironmentProvider } from "./find-provider.ts";

export interface GatewayOptions extends ProviderSources, Omit<GatewayParts, "engine"> {}

export interface Gateway {
  feature: Feature;
  /** Creates the gateway of a server once the engine exists. */
  serve(engine: Engine): ReturnType<typeof serve>;
}

export function createGateway(options: GatewayOptions): Gateway {
  return {
    feature: {
      name: "gateway",
      migrations: gatewayMigrations,
      sessionTables: ["gateway_calls"],
      routes: settingsRoutes,
      sweeps: [abandonedCalls(options.price)],
    },
    serve: (engine) => serve(engine, options),
  };
}

type RunnerPrincipal = Extract<Principal, { kind: "runner" }>;

interface AskedModel {
  provider: string;
  route: ModelRoute;
  readBody(): Promise<Buffer>;
}

function serve(engine: Engine, { price, maxTurnMicros, ...sources }: GatewayOptions) {
  const parts: GatewayParts = { engine, price, maxTurnMicros };
  const slots = new CallSlots();
  const settingsOf = (orgId: string) => engine.store.read((reader) => readSettings(reader, orgId));

  return {
    /** Lists providers that a runner reaches through the server. */
    async list({ orgId, scope }: RunnerPrincipal): Promise<ConfiguredProvider[]> {
      const isClosed = isPersonal(scope) && (await settingsOf(orgId)).personal_runners === 0;
      return isClosed ? [] : listProviders(engine, sources, orgId);
    },

    /** Finds a provider whose list of models a runner may read. */
    async find(
      { orgId, scope }: RunnerPrincipal,
      name: string,
    ): Promise<ReachedProvider | undefined> {
      requireOpen(await settingsOf(orgId), isPersonal(scope));
      return (await findProvider(engine, sources, orgId, name))?.reach;
    },

    /** Admits a request of the attempt that a run token names, or refuses it. */
    async open(agent: AgentPrincipal, { provider, route, readBody }: AskedModel) {
      const { runId, fence } = runOf(agent);
      const found = await findProvider(engine, sources, agent.orgId, provider);
      if (!found) throw notFound("provider");
      const { reach, models: offered } = found;
      requireRoute(reach, route);
      // Before the body is read: bodies under way take memory too.
      slots.enter(runId);
      const over = () => slots.leave(runId);
      try {
        const sent = await readBody();
        const { model, body } = readModelRequest(route, sent);
        const id = engine.ids.mint("gwc");
        const newCall = { id, provider, model, offered, requestBytes: sent.length };
        const opening = await openCall(parts, { runId, fence }, newCall);
        if ("call" in opening) {
          const { call } = opening;
          const passage = createPassage({ parts, call, provider: reach, route, body, over });
          if (found.answered) return passage;
          return withAnswerNote(passage, () =>
            sources.providers.noteAnswered(engine, agent.orgId, provider),
          );
        }
        over();
        return { spent: SENTENCES[opening.spent], kind: reach.kind };
      } catch (error) {
        over();
        throw error;
      }
    },

    /** True while the attempt holds its run. */
    isStillHeld: (agent: AgentPrincipal) => isStillHeld(engine, runOf(agent)),
  };
}

type AdmittedCall = ReturnType<typeof createPassage>;

/** Records that the provider responded, once its response has ended. */
function withAnswerNote(passage: AdmittedCall, note: () => Promise<void>): AdmittedCall {
  let isAnswered = false;
  return {
    ...passage,
    meter(isEventStream) {
      isAnswered = true;
      return passage.meter(isEventStream);
    },
    async end(isCut) {
      await passage.end(isCut);
      if (isAnswered) await note();
    },
  };
}

const SENTENCES = {
  budget: "The session has used its budget. Raise it, or start another session.",
  turn: "The turn has reached its cost limit. Send another prompt to continue, or raise MUSTER_MAX_TURN_COST.",
} as const;

function isPersonal(scope: string): boolean {
  return scope.startsWith("user:");
}

function runOf({ run }: AgentPrincipal): NonNullable<AgentPrincipal["run"]> {
  if (run) return run;
  throw new Refusal(
    "forbidden",
    "run_token_required",
    "Models are reached with the run token of the turn that asks. Send a prompt to the session.",
  );
}

/** Anthropic has the Messages route, all others have the two of OpenAI. */
function requireRoute({ kind }: ReachedProvider, route: ModelRoute): void {
  if ((kind === "anthropic") === (route === "messages")) return;
  throw new Refusal(
    "not_found",
    "gateway_route_unknown",
    kind === "anthropic"
      ? "This provider speaks Anthropic's Messages: POST messages."
      : "This provider speaks OpenAI's interfaces: POST responses or chat/completions.",
  );
}
