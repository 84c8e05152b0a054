/** Models grouped by provider, with each provider's settings. Pure. */
import type { Provider } from "#features/providers/contract.ts";
import type { ModelCapability } from "#protocol/models.ts";

export interface ModelGroup {
  name: string;
  /** Undefined for providers that are built in or known only to the runners. */
  provider: Provider | undefined;
  usable: ModelCapability[];
  /** Reasons why some or all models cannot be used. */
  whys: string[];
}

/** Sorts groups with usable models first; otherwise keeps the reported order. */
export function modelGroups(
  offers: readonly ModelCapability[],
  providers: readonly Provider[],
): ModelGroup[] {
  const names = new Set([
    ...offers.map(({ provider }) => provider),
    ...providers.map(({ name }) => name),
  ]);
  const groups = [...names].map((name) => {
    const provider = providers.find((one) => one.name === name);
    const mine = offers.filter((offer) => offer.provider === name);
    const usable = mine.filter((offer) => offer.usable);
    const reasons = mine.flatMap(({ why }) => (why === null ? [] : [why]));
    const silent =
      mine.length === 0 ? ["No runner has loaded it yet. Check that one is connected."] : [];
    const broken = provider?.problem ? [provider.problem] : [];
    return { name, provider, usable, whys: [...new Set([...broken, ...reasons, ...silent])] };
  });
  return [
    ...groups.filter(({ usable }) => usable.length > 0),
    ...groups.filter(({ usable }) => usable.length === 0),
  ];
}
