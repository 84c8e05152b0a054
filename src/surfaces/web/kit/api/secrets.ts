/** Requests for secrets by scope: the organisation's and one's own have separate routes. */

import type { Secret, SecretScope } from "#features/secrets/contract.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import { api } from "./api-client.ts";
import { readAll } from "./read-all.ts";

export function listSecrets(
  orgId: string,
  scope: SecretScope,
  signal: AbortSignal,
): Promise<Secret[]> {
  return readAll((cursor) => {
    const query = { limit: PAGE_LIMIT_MAX, cursor };
    return scope === "org"
      ? api.orgSecrets.list({ orgId, query }, { signal })
      : api.secrets.list({ query }, { signal });
  });
}

export function setSecret(orgId: string, scope: SecretScope, name: string, value: string) {
  const body = { value };
  return scope === "org"
    ? api.orgSecrets.set({ orgId, name, body })
    : api.secrets.set({ name, body });
}

export function removeSecret(orgId: string, scope: SecretScope, name: string) {
  return scope === "org" ? api.orgSecrets.delete({ orgId, name }) : api.secrets.delete({ name });
}
