import { useQuery } from "@tanstack/react-query";
import type { Me } from "#features/auth/contract.ts";
import { keys } from "../api/query-keys.ts";

/** Who is signed in; the shell has read it before any page is shown. */
export function useMe(): Me | null {
  return useQuery<Me | null>({ queryKey: keys.me, enabled: false }).data ?? null;
}

/** Whether to offer what only admins may do; the server decides in any case. */
export function useIsAdmin(): boolean {
  const me = useMe();
  if (me?.user.role !== "admin") return false;
  return me.scopes.includes("*") || me.scopes.includes("admin");
}
