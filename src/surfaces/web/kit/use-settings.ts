import { useQuery } from "@tanstack/react-query";
import { keys } from "./query-keys.ts";
import { settingsApi } from "./settings-api.ts";
import { useMe } from "./use-me.ts";

/** Those that the one who looks can use. */
export function usePersonas() {
  const orgId = useMe()?.org.id ?? "";
  return useQuery({
    queryKey: keys.personas,
    queryFn: ({ signal }) => settingsApi.listPersonas(orgId, signal),
    enabled: orgId !== "",
  });
}

export function useRepos(isNeeded = true) {
  const orgId = useMe()?.org.id ?? "";
  return useQuery({
    queryKey: keys.repos,
    queryFn: ({ signal }) => settingsApi.listRepos(orgId, signal),
    enabled: isNeeded && orgId !== "",
  });
}

/** Their names; the values never come out. */
export function useOrgSecrets() {
  const orgId = useMe()?.org.id ?? "";
  return useQuery({
    queryKey: keys.secrets("org"),
    queryFn: ({ signal }) => settingsApi.listSecrets(orgId, "org", signal),
    enabled: orgId !== "",
  });
}
