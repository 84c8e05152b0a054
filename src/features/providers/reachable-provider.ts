import type { ProviderKind } from "./contract.ts";

/** How to reach a provider. For the server alone: it holds the key. */
export interface ReachableProvider {
  kind: ProviderKind;
  baseUrl: string;
  /** Null: it wants none. */
  apiKey: string | null;
}
