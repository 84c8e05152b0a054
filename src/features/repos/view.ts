/** API view of a repository. */
import { storedRepositoryAddress } from "#protocol/names/repository-address.ts";
import type { Repo } from "./contract.ts";
import type { RepoRow } from "./schema.ts";

export function repoView(row: RepoRow): Repo {
  return {
    id: row.id,
    fullName: row.full_name,
    ...partsOf(row.full_name),
    provider: row.provider,
    url: row.url,
    description: row.description,
    defaultBranch: row.default_branch,
    language: row.language,
    topics: topicsOf(row),
    enabled: row.enabled === 1,
    personaSlug: row.persona_slug,
    setupCommand: row.setup_command,
    credential: row.credential,
    hasWebhookSecret: row.webhook_secret !== null,
    syncedAt: iso(row.synced_at),
    missingAt: iso(row.missing_at),
    problem: problemOf(row),
    createdAt: new Date(row.created_at).toISOString(),
    updatedAt: new Date(row.updated_at).toISOString(),
  };
}

function partsOf(fullName: string): Pick<Repo, "owner" | "name"> {
  const at = fullName.lastIndexOf("/");
  return { owner: at < 0 ? null : fullName.slice(0, at), name: fullName.slice(at + 1) };
}

export function topicsOf({ topics }: RepoRow): string[] {
  return JSON.parse(topics) as string[];
}

function problemOf({ url, missing_at }: RepoRow): string | null {
  if (missing_at !== null) {
    return "GitHub did not list it at the last sync: it was deleted or renamed, or the token can no longer see it. Remove it, or sync again with another token.";
  }
  if (storedRepositoryAddress(url).kind === "ssh") {
    return "Runners have no SSH, so sessions on it will fail. Use its https:// address, and a credential if it needs one.";
  }
  return null;
}

function iso(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
