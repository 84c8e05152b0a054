/** Repository input and texts. Pure. */
import type { NewRepo, Repo, RepoSyncResult } from "#features/repos/contract.ts";

/** Reads `owner/name` as a GitHub repository and anything else as an address. */
export function namedBy(text: string): Pick<NewRepo, "fullName" | "url"> {
  const input = text.trim();
  return /^[\w.-]+\/[\w.-]+$/.test(input) ? { fullName: input } : { url: input };
}

const WHY_STOPPED: Record<NonNullable<RepoSyncResult["stoppedBy"]>, string> = {
  rate_limit: "GitHub's rate limit is reached; sync again later.",
  time: "It took too long; sync again to continue.",
  size: "Too many repositories; enter an account.",
};

export function syncWords(sync: RepoSyncResult): string {
  const counts = [
    `${sync.found} found`,
    `${sync.added} added`,
    `${sync.updated} updated`,
    ...(sync.missing > 0 ? [`${sync.missing} missing`] : []),
    ...(sync.skippedCount > 0 ? [`${sync.skippedCount} skipped`] : []),
  ].join(", ");
  return sync.stoppedBy === null ? `${counts}.` : `${counts}. ${WHY_STOPPED[sync.stoppedBy]}`;
}

/** Describes the address and the settings in one line. */
export function repoWords(repo: Repo): string {
  const { url, enabled, defaultBranch, personaSlug, credential } = repo;
  const parts = [
    url,
    !enabled && "off",
    defaultBranch !== null && `branch ${defaultBranch}`,
    personaSlug !== null && `persona ${personaSlug}`,
    credential !== null && `access with ${credential}`,
    repo.setupCommand !== null && "has a setup command",
    repo.hasWebhookSecret && "has a webhook secret",
  ];
  return parts.filter(Boolean).join(" · ");
}
