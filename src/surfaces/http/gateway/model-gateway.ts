/** Interface of the model gateway to this surface. */
import type { Principal } from "#engine/index.ts";
import type { ProviderKind } from "#features/providers/contract.ts";

/** A provider's routes for requests to models. */
export const MODEL_ROUTES = ["messages", "chat/completions", "responses"] as const;
export type ModelRoute = (typeof MODEL_ROUTES)[number];

/** Address and credentials of a provider. They stay on the server. */
export interface ReachedProvider {
  kind: ProviderKind;
  /** Ends with the version, such as `/v1`. */
  baseUrl: string;
  apiKey: string | null;
  /** Anthropic's other credential: sent as a bearer token. */
  authToken?: string | undefined;
}

export interface ConfiguredProvider {
  name: string;
  kind: ProviderKind;
  models: string[] | null;
  /** False: the provider did not respond when it was saved. */
  answered: boolean;
}

/** Reads a response as it passes, and counts its usage. */
export interface AnswerMeter {
  take(chunk: Buffer): void;
}

/** An admitted request. The caller must call exactly one of its end functions. */
export interface Passage {
  provider: ReachedProvider;
  body: Buffer;
  /** Called when the response begins. */
  meter(isEventStream: boolean): AnswerMeter;
  /** Called when the response ended or was cut off: counts its usage. */
  end(isCut: boolean): Promise<void>;
  /** Called when the provider refused or was not reached: nothing was used. */
  fail(): Promise<void>;
}

/** No budget is left; `message` says what to do. */
export interface SpentBudget {
  spent: string;
  kind: ProviderKind;
}

type RunnerCaller = Extract<Principal, { kind: "runner" }>;
type AgentCaller = Extract<Principal, { kind: "session" }>;

/** The model gateway, as main passes it to this surface. */
export interface ModelGateway {
  /** Lists providers that this runner reaches through the server. */
  list(runner: RunnerCaller): Promise<ConfiguredProvider[]>;
  /** Finds a provider whose list of models this runner may read. */
  find(runner: RunnerCaller, name: string): Promise<ReachedProvider | undefined>;
  /** Admits a request of the attempt that a run token names, or refuses it. */
  open(
    agent: AgentCaller,
    request: { provider: string; route: ModelRoute; readBody: () => Promise<Buffer> },
  ): Promise<Passage | SpentBudget>;
  /** True while that attempt holds its run. */
  isStillHeld(agent: AgentCaller): Promise<boolean>;
}
