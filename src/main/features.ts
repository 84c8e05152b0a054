/** The list of features, in order, in sight. Sign-in is wired by the server, because everything needs it. */
import type { Feature } from "#engine/index.ts";
import { approvals } from "#features/approvals/index.ts";
import { audit } from "#features/audit/index.ts";
import { briefing } from "#features/briefing/index.ts";
import { findSharedPersona, personas } from "#features/personas/index.ts";
import { policy } from "#features/policy/index.ts";
import { createProviders, type Providers } from "#features/providers/index.ts";
import { createRepos } from "#features/repos/index.ts";
import { createSecrets } from "#features/secrets/index.ts";
import { usage } from "#features/usage/index.ts";

export interface Features {
  list: readonly Feature[];
  providers: Providers;
}

export function createFeatures({ secretKey, githubApiUrl }: FeatureSettings): Features {
  const secrets = createSecrets({ secretKey });
  const providers = createProviders({ secretKey });
  const repos = createRepos({ secretKey, secrets, githubApiUrl, findPersona: findSharedPersona });
  return {
    providers,
    list: [
      policy,
      approvals,
      audit,
      usage,
      providers.feature,
      secrets.feature,
      personas,
      repos.feature,
      briefing,
    ],
  };
}

export interface FeatureSettings {
  /** What is stored encrypted is encrypted with it. */
  secretKey: string;
  githubApiUrl?: string | undefined;
}
