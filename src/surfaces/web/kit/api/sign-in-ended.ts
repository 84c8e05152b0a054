import type { QueryClient } from "@tanstack/react-query";
import { isSignOut } from "./api-client.ts";
import { keys } from "./query-keys.ts";

/**
 * Asks for a sign-in after a 401. A sign-out also clears what is kept, so the server is asked first who
 * is signed in: another tab may have signed the same person in again during the request.
 */
export function signInEnded(client: QueryClient, error: Error): void {
  if (isSignOut(error)) void client.invalidateQueries({ queryKey: keys.me });
  else client.setQueryData(keys.me, null);
}
