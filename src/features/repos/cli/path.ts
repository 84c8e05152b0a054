/** Where the organisation's repositories are, and which one a person means. */
import { notFound } from "#base/refusal.ts";
import type { Repo } from "#features/repos/contract.ts";
import type { Api } from "#surfaces/cli/client/api.ts";

export async function reposPath(api: Api): Promise<string> {
  const me = await api.call<{ org: { id: string } }>("/api/me");
  return `/api/orgs/${encodeURIComponent(me.org.id)}/repos`;
}

/** By its full name, whatever its letters, or by its id. */
export async function repoPath(api: Api, nameOrId: string): Promise<string> {
  const path = await reposPath(api);
  if (/^rep_[0-9a-z]{26}$/.test(nameOrId)) return `${path}/${nameOrId}`;
  const name = nameOrId.toLowerCase();
  const found = await api.listAll<Repo>(path, { q: nameOrId });
  const repo = found.find(({ fullName }) => fullName.toLowerCase() === name);
  if (!repo) throw notFound("repository");
  return `${path}/${repo.id}`;
}
