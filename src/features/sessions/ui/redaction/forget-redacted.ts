import type { QueryClient } from "@tanstack/react-query";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { type Tail, withoutRedacted } from "../transcript/transcript-cache.ts";

/** Drops redacted entries from this tab's cache, and reads the transcript anew. */
export function forgetRedacted(
  queryClient: QueryClient,
  sessionId: string,
  entryIds: readonly string[],
): void {
  const ids = new Set(entryIds);
  queryClient.setQueryData<Tail>(
    keys.tail(sessionId),
    (tail) => tail && withoutRedacted(tail, ids),
  );
  void queryClient.invalidateQueries({ queryKey: keys.transcript(sessionId) });
}
