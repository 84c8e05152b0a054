/** The list of features, in order, in sight. Sign-in is wired by the server, because everything needs it. */
import type { Config } from "#base/config.ts";
import type { Log } from "#base/log.ts";
import { routing } from "#channels/routing/index.ts";
import type { Feature } from "#engine/index.ts";
import { approvals } from "#features/approvals/index.ts";
import { audit } from "#features/audit/index.ts";
import { briefing } from "#features/briefing/index.ts";
import { createDelegation, type DelegationLimits } from "#features/delegation/index.ts";
import { createMailbox } from "#features/mailbox/index.ts";
import { memory } from "#features/memory/index.ts";
import { createOrchestrators } from "#features/orchestrators/index.ts";
import { createPersonas, findSharedPersona } from "#features/personas/index.ts";
import { policy } from "#features/policy/index.ts";
import { createProviders, type Providers } from "#features/providers/index.ts";
import { createRepos } from "#features/repos/index.ts";
import { createSearch } from "#features/search/index.ts";
import { createSecrets } from "#features/secrets/index.ts";
import { createSupervision, disabledReason } from "#features/supervision/index.ts";
import { tasks } from "#features/tasks/index.ts";
import { usage } from "#features/usage/index.ts";

export interface Features {
  list: readonly Feature[];
  providers: Providers;
}

export function createFeatures({
  secretKey,
  githubApiUrl,
  searchPath,
  publicUrl,
  log,
  orchestration,
  delegation,
}: FeatureSettings): Features {
  const workersPerSupervisor = orchestration.maxWorkers;
  const secrets = createSecrets({ secretKey });
  const providers = createProviders({ secretKey });
  const repos = createRepos({ secretKey, secrets, githubApiUrl, findPersona: findSharedPersona });
  const list: readonly Feature[] = [
    createDelegation({ ...delegation, workersPerSupervisor }),
    createSupervision({
      log,
      disabledReason: disabledReason(orchestration),
      workersPerSupervisor,
      allowDelete: orchestration.allowDelete,
    }),
    createOrchestrators({ publicUrl }),
    tasks,
    createMailbox(),
    memory,
    routing,
    policy,
    approvals,
    audit,
    usage,
    providers.feature,
    secrets.feature,
    createPersonas({ searchPath }),
    repos.feature,
    briefing,
  ];
  // Last: it watches over what the others let be found.
  return { providers, list: [...list, createSearch(list)] };
}

export interface FeatureSettings {
  /** What is stored encrypted is encrypted with it. */
  secretKey: string;
  githubApiUrl?: string | undefined;
  /** Where programs are found. */
  searchPath: string;
  /** Where people reach the server, if that is known. */
  publicUrl?: string | undefined;
  log: Log;
  orchestration: Config["orchestration"];
  /** The limits of parents and children, where they are not the usual ones. */
  delegation?: Partial<DelegationLimits>;
}
