import { useQuery } from "@tanstack/react-query";
import type { Me } from "#features/auth/contract.ts";
import { keys } from "../api/query-keys.ts";

/** Signed-in person, from the cache; the shell loads it before any page. */
export function useMe(): Me | null {
  return useQuery<Me | null>({ queryKey: keys.me, enabled: false }).data ?? null;
}

/** True if admin actions are offered; the server decides in any case. */
export function useIsAdmin(): boolean {
  const me = useMe();
  if (me?.user.role !== "admin") return false;
  return me.scopes.includes("*") || me.scopes.includes("admin");
}
