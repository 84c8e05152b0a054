import { useQuery } from "@tanstack/react-query";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import { api } from "../api/api-client.ts";
import { keys } from "../api/query-keys.ts";
import { readAll } from "../api/read-all.ts";
import { listSecrets } from "../api/secrets.ts";
import { useMe } from "./use-me.ts";

/** Personas that the viewer can use. */
export function usePersonas() {
  const orgId = useMe()?.org.id ?? "";
  return useQuery({
    queryKey: keys.personas,
    queryFn: ({ signal }) =>
      readAll((cursor) =>
        api.personas.list({ orgId, query: { limit: PAGE_LIMIT_MAX, cursor } }, { signal }),
      ),
    enabled: orgId !== "",
  });
}

export function useRepos(isNeeded = true) {
  const orgId = useMe()?.org.id ?? "";
  return useQuery({
    queryKey: keys.repos,
    queryFn: ({ signal }) =>
      readAll((cursor) =>
        api.repos.list({ orgId, query: { limit: PAGE_LIMIT_MAX, cursor } }, { signal }),
      ),
    enabled: isNeeded && orgId !== "",
  });
}

/** Names of the organisation's secrets; values are never returned. */
export function useOrgSecrets() {
  const orgId = useMe()?.org.id ?? "";
  return useQuery({
    queryKey: keys.secrets("org"),
    queryFn: ({ signal }) => listSecrets(orgId, "org", signal),
    enabled: orgId !== "",
  });
}
