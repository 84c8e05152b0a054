import type { QueryClient } from "@tanstack/react-query";
import type { ApiError } from "./api-client.ts";
import { keys } from "./query-keys.ts";
import { leave } from "./tab-person.ts";

/** Asks for a sign-in. Kept prompts and drafts go with a sign-out, and stay when it has just expired. */
export function signInEnded(client: QueryClient, error: ApiError): void {
  if (error.isSignOut) leave();
  client.setQueryData(keys.me, null);
}
