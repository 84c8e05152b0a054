/** Models for the gateway: the server's own keys, and prices. */
import { costMicros, priceOf } from "#execution/models/prices.ts";
import { type Environment, providersFrom } from "#execution/models/provider-settings.ts";
import type { EnvironmentProvider, GatewayOptions } from "#features/gateway/index.ts";

/**
 * Providers with a key in the server's environment. A provider on this machine needs no key, and is not
 * shared.
 */
export function environmentProviders(environment: Environment): EnvironmentProvider[] {
  return providersFrom(environment)
    .filter(({ missing, apiKey, authToken }) => missing === null && (apiKey ?? authToken))
    .map(({ name, kind, baseUrl, apiKey, authToken, models }) => ({
      name,
      kind,
      baseUrl,
      models,
      apiKey: apiKey ?? null,
      ...(authToken === undefined ? {} : { authToken }),
    }));
}

export const priceRequest: GatewayOptions["price"] = (model, usage) => {
  const price = priceOf(model);
  return { costMicros: costMicros(price, usage), priceId: price?.id ?? null };
};
