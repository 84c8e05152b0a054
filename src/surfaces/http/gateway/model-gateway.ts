/** The model gateway as this surface is handed it. */
import type { Principal } from "#engine/index.ts";
import type { ProviderKind } from "#features/providers/contract.ts";

/** The routes of a provider that take requests to models. */
export const MODEL_ROUTES = ["messages", "chat/completions", "responses"] as const;
export type ModelRoute = (typeof MODEL_ROUTES)[number];

/** How to reach a provider. For the server alone: it holds the key. */
export interface ReachedProvider {
  kind: ProviderKind;
  /** Ends with the version, such as `/v1`. */
  baseUrl: string;
  apiKey: string | null;
  /** Anthropic's other credential: sent as a bearer token. */
  authToken?: string | undefined;
}

export interface OfferedProvider {
  name: string;
  kind: ProviderKind;
  models: string[] | null;
  /** False: nobody answered when it was saved. */
  answered: boolean;
}

/** Reads an answer as it passes, and counts what it used. */
export interface AnswerMeter {
  take(chunk: Buffer): void;
}

/** A request that was let through. Exactly one of its ends must be called. */
export interface Passage {
  provider: ReachedProvider;
  body: Buffer;
  /** To be called when the answer begins. */
  meter(isEventStream: boolean): AnswerMeter;
  /** The answer ended, or was cut off: what it used is counted. */
  end(isCut: boolean): Promise<void>;
  /** The provider refused or was not reached: nothing was used. */
  fail(): Promise<void>;
}

/** No money is left; `message` says what to do. */
export interface SpentBudget {
  spent: string;
  kind: ProviderKind;
}

type RunnerCaller = Extract<Principal, { kind: "runner" }>;
type AgentCaller = Extract<Principal, { kind: "session" }>;

/** The model gateway as a surface is handed it. */
export interface ModelGateway {
  /** Providers that this runner reaches through the server. */
  list(runner: RunnerCaller): Promise<OfferedProvider[]>;
  /** A provider whose list of models this runner may read. */
  find(runner: RunnerCaller, name: string): Promise<ReachedProvider | undefined>;
  /** Lets a request of the attempt that a run token names through, or refuses it. */
  open(
    agent: AgentCaller,
    request: { provider: string; route: ModelRoute; readBody: () => Promise<Buffer> },
  ): Promise<Passage | SpentBudget>;
  /** True while that attempt holds its run. */
  isStillHeld(agent: AgentCaller): Promise<boolean>;
}
