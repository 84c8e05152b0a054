import type { ProviderKind } from "./contract.ts";

/** Address and key of a provider. It stays on the server, because it holds the key. */
export interface ReachableProvider {
  kind: ProviderKind;
  baseUrl: string;
  /** Null: the provider needs none. */
  apiKey: string | null;
}
