/** Whether a runner can take a run: pure, so that the reasons can be tested and told. */
import type { Demands } from "#protocol/runs.ts";

export interface RunnerOffer {
  id: string;
  orgId: string;
  /** `org`, or `user:<id>`: a member's own machine never works for others. */
  scope: string;
  hostname: string;
  /** The folder it was started for; null: it has none of its own. */
  projectDir: string | null;
  profile: string;
  tags: readonly string[];
  runtimes: readonly string[];
}

export interface RunWish {
  orgId: string;
  ownerId: string | null;
  runtime: string;
  demands: Demands;
  pinnedRunnerId: string | null;
}

/** Demands that hold for every run of a session. */
export function sessionDemands({ demands }: { demands: string | null }): Demands {
  return demands === null ? {} : (JSON.parse(demands) as Demands);
}

/** The wish of a run as it is stored. */
export function wishOf(run: {
  org_id: string;
  owner_id: string | null;
  runtime: string;
  demands: string;
  pinned_runner_id: string | null;
}): RunWish {
  return {
    orgId: run.org_id,
    ownerId: run.owner_id,
    runtime: run.runtime,
    demands: JSON.parse(run.demands) as Demands,
    pinnedRunnerId: run.pinned_runner_id,
  };
}

export function fits(offer: RunnerOffer, wish: RunWish): boolean {
  const { demands } = wish;
  return (
    offer.orgId === wish.orgId &&
    (offer.scope === "org" || offer.scope === `user:${wish.ownerId}`) &&
    offer.runtimes.includes(wish.runtime) &&
    (wish.pinnedRunnerId === null || wish.pinnedRunnerId === offer.id) &&
    (demands.hostname === undefined || demands.hostname === offer.hostname) &&
    (demands.projectDir === undefined || demands.projectDir === offer.projectDir) &&
    (demands.profile === undefined || demands.profile === offer.profile) &&
    (demands.runtime === undefined || offer.runtimes.includes(demands.runtime)) &&
    (demands.tags ?? []).every((tag) => offer.tags.includes(tag))
  );
}

/** Runs with the same key fit the same runners. */
export function demandKey(wish: RunWish): string {
  const { demands } = wish;
  return JSON.stringify([
    wish.orgId,
    wish.ownerId,
    wish.runtime,
    wish.pinnedRunnerId,
    demands.hostname ?? null,
    demands.projectDir ?? null,
    demands.profile ?? null,
    demands.runtime ?? null,
    [...(demands.tags ?? [])].sort(),
  ]);
}
