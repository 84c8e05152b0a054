/** Decides if a runner can take a run: pure, so that the reasons can be tested and shown. */
import type { RunnerRequirements } from "#protocol/runs.ts";

export interface RunnerCapabilities {
  id: string;
  orgId: string;
  /** `org` or `user:<id>`: a member's own machine never works for others. */
  scope: string;
  hostname: string;
  /** Folder that the runner was started for; null for none. */
  projectDir: string | null;
  profile: string;
  tags: readonly string[];
  runtimes: readonly string[];
}

export interface RunRequirements {
  orgId: string;
  ownerId: string | null;
  runtime: string;
  demands: RunnerRequirements;
  pinnedRunnerId: string | null;
}

/** Requirements of every run of a session. */
export function sessionRequirements({ demands }: { demands: string | null }): RunnerRequirements {
  return demands === null ? {} : (JSON.parse(demands) as RunnerRequirements);
}

/** Requirements of a stored run. */
export function requirementsOf(run: {
  org_id: string;
  owner_id: string | null;
  runtime: string;
  demands: string;
  pinned_runner_id: string | null;
}): RunRequirements {
  return {
    orgId: run.org_id,
    ownerId: run.owner_id,
    runtime: run.runtime,
    demands: JSON.parse(run.demands) as RunnerRequirements,
    pinnedRunnerId: run.pinned_runner_id,
  };
}

export function fits(capabilities: RunnerCapabilities, requirements: RunRequirements): boolean {
  const { demands } = requirements;
  return (
    capabilities.orgId === requirements.orgId &&
    (capabilities.scope === "org" || capabilities.scope === `user:${requirements.ownerId}`) &&
    capabilities.runtimes.includes(requirements.runtime) &&
    (requirements.pinnedRunnerId === null || requirements.pinnedRunnerId === capabilities.id) &&
    (demands.hostname === undefined || demands.hostname === capabilities.hostname) &&
    (demands.projectDir === undefined || demands.projectDir === capabilities.projectDir) &&
    (demands.profile === undefined || demands.profile === capabilities.profile) &&
    (demands.runtime === undefined || capabilities.runtimes.includes(demands.runtime)) &&
    (demands.tags ?? []).every((tag) => capabilities.tags.includes(tag))
  );
}

/** Key of requirements: runs with the same key fit the same runners. */
export function requirementsKey(requirements: RunRequirements): string {
  const { demands } = requirements;
  return JSON.stringify([
    requirements.orgId,
    requirements.ownerId,
    requirements.runtime,
    requirements.pinnedRunnerId,
    demands.hostname ?? null,
    demands.projectDir ?? null,
    demands.profile ?? null,
    demands.runtime ?? null,
    [...(demands.tags ?? [])].sort(),
  ]);
}
