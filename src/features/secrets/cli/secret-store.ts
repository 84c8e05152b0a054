/** The caller's own secrets, or with `--org` the organisation's, behind one set of calls. */
import type { Secret } from "#features/secrets/contract.ts";
import type { Api } from "#surfaces/cli/client/api.ts";
import { resolveOrgId } from "#surfaces/cli/kit/who.ts";

export interface SecretsOptions {
  org?: boolean;
}

export const ORG_OPTION = ["--org", "the organisation's secrets instead of your own"] as const;

export interface NewValue {
  value: string;
  description?: string;
}

export interface SecretStore {
  list(): Promise<Secret[]>;
  set(name: string, body: NewValue): Promise<{ secret: Secret }>;
  delete(name: string): Promise<object>;
}

export async function openSecretStore(
  api: Api,
  { org = false }: SecretsOptions,
): Promise<SecretStore> {
  if (!org)
    return {
      list: () => api.listAll(api.secrets.list, {}),
      set: (name, body) => api.secrets.set({ name, body }),
      delete: (name) => api.secrets.delete({ name }),
    };
  const orgId = await resolveOrgId(api);
  return {
    list: () => api.listAll(api.orgSecrets.list, { orgId }),
    set: (name, body) => api.orgSecrets.set({ orgId, name, body }),
    delete: (name) => api.orgSecrets.delete({ orgId, name }),
  };
}
