import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useMe } from "#surfaces/web/kit/hooks/use-me.ts";

/** Returns the open session if it is the person's own: an admin may have opened somebody else's. */
export function useOwnOpen(openId: string | undefined): Session | undefined {
  const open = useQuery({
    queryKey: keys.session(openId ?? ""),
    queryFn: ({ signal }) => api.sessions.get({ id: openId ?? "" }, { signal }),
    enabled: openId !== undefined,
  }).data?.session;
  const me = useMe()?.user.id;
  return open?.ownerId === me ? open : undefined;
}

/** Returns the open session when a filtered list does not have it, so that it can still be reached there. */
export function useOpenApart(listed: readonly Session[], isFiltered: boolean): Session | undefined {
  const { sessionId } = useParams({ strict: false });
  const open = useOwnOpen(isFiltered ? sessionId : undefined);
  const me = useMe()?.user.id;
  return isFiltered ? openApart(listed, open, me) : undefined;
}

export function openApart(
  listed: readonly Session[],
  open: Session | undefined,
  me: string | undefined,
): Session | undefined {
  if (!open || open.isOrchestrator || open.ownerId !== me) return undefined;
  return listed.some(({ id }) => id === open.id) ? undefined : open;
}
