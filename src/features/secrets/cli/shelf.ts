/** Where secrets are: one's own, or with `--org` the organisation's. */
import type { Api } from "#surfaces/cli/client/api.ts";

export interface SecretsOptions {
  org?: boolean;
}

export const ORG_OPTION = ["--org", "the organisation's instead of your own"] as const;

export async function secretsPath(api: Api, { org = false }: SecretsOptions): Promise<string> {
  if (!org) return "/api/me/secrets";
  const me = await api.call<{ org: { id: string } }>("/api/me");
  return `/api/orgs/${encodeURIComponent(me.org.id)}/secrets`;
}

export async function secretPath(api: Api, options: SecretsOptions, name: string): Promise<string> {
  return `${await secretsPath(api, options)}/${encodeURIComponent(name)}`;
}
