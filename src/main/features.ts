/** The list of features, in order. The server wires sign-in itself, because everything needs it. */
import type { Config } from "#base/config.ts";
import type { Log } from "#base/log.ts";
import type { EncryptedColumn } from "#base/secrets/secret-key.ts";
import { routing } from "#channels/routing/index.ts";
import type { Feature } from "#engine/index.ts";
import { approvals } from "#features/approvals/index.ts";
import { type Audit, createAudit } from "#features/audit/index.ts";
import { briefing } from "#features/briefing/index.ts";
import { createDelegation, type DelegationLimits } from "#features/delegation/index.ts";
import { createGateway, type Gateway } from "#features/gateway/index.ts";
import { createMailbox } from "#features/mailbox/index.ts";
import { memory } from "#features/memory/index.ts";
import { createTurnMetrics, type TurnMetrics } from "#features/metrics/index.ts";
import { createOrchestrators } from "#features/orchestrators/index.ts";
import { createPersonas, findSharedPersona } from "#features/personas/index.ts";
import { policy } from "#features/policy/index.ts";
import { createProviders, providerKeyColumn } from "#features/providers/index.ts";
import { createRepos, webhookColumn } from "#features/repos/index.ts";
import { createSearch } from "#features/search/index.ts";
import { createSecrets, secretColumn } from "#features/secrets/index.ts";
import { createStorage } from "#features/storage/index.ts";
import { createSupervision, disabledReason } from "#features/supervision/index.ts";
import { tasks } from "#features/tasks/index.ts";
import { usage } from "#features/usage/index.ts";
import { environmentProviders, priceRequest } from "./server/gateway-models.ts";

/** Columns that features store encrypted with the server's key. */
export const ENCRYPTED_COLUMNS: readonly EncryptedColumn[] = [
  providerKeyColumn,
  secretColumn,
  webhookColumn,
];

export interface Features {
  list: readonly Feature[];
  gateway: Gateway;
  audit: Audit;
  turnMetrics: TurnMetrics;
}

export function createFeatures({
  secretKey,
  auditHeadFile,
  githubApiUrl,
  searchPath,
  publicUrl,
  log,
  orchestration,
  delegation,
  providers: environment,
  turnLimits,
}: FeatureSettings): Features {
  const workersPerSupervisor = orchestration.maxWorkers;
  const secrets = createSecrets({ secretKey });
  const audit = createAudit({ secretKey, headFile: auditHeadFile });
  const providers = createProviders({ secretKey });
  const gateway = createGateway({
    providers,
    environment: environmentProviders(environment),
    price: priceRequest,
    maxTurnMicros: turnLimits.costMicros,
  });
  const turnMetrics = createTurnMetrics();
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
    audit.feature,
    usage,
    turnMetrics.feature,
    providers.feature,
    gateway.feature,
    secrets.feature,
    createPersonas({ searchPath }),
    repos.feature,
    briefing,
  ];
  // Last, because storage and search read the other features' declarations.
  const all = [...list, createStorage(list), createSearch(list)];
  return { gateway, audit, turnMetrics, list: all };
}

export interface FeatureSettings {
  /** Key for everything stored encrypted. */
  secretKey: string;
  /** File that keeps the end of the audit trail outside the database. */
  auditHeadFile?: string | undefined;
  githubApiUrl?: string | undefined;
  /** Search path for programs. */
  searchPath: string;
  /** Address at which people reach the server, if it is known. */
  publicUrl?: string | undefined;
  log: Log;
  /** Variables for providers in the server's environment. */
  providers: Config["providers"];
  turnLimits: Config["turnLimits"];
  orchestration: Config["orchestration"];
  /** Limits of parents and children that differ from the defaults. */
  delegation?: Partial<DelegationLimits>;
}
