import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ChildrenOverview } from "#features/delegation/contract.ts";
import type { Session } from "#protocol/sessions.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";

interface SessionLinkProps {
  sessionId: string;
  /** Name at that time; null falls back to the cached title. */
  name: string | null;
  className?: string;
}

/** Links to a session by name. An orchestrator's link goes to the home page. */
export function SessionLink({ sessionId, name, className = "" }: SessionLinkProps) {
  const known = useKnownTitle(sessionId);
  const words = revealLine(name ?? known ?? "Session");
  const look = `font-medium text-accent underline-offset-2 hover:underline ${className}`;
  return sessionId.startsWith("orchestrator:") ? (
    <Link to="/" search={true} className={look}>
      {words}
    </Link>
  ) : (
    <Link to="/sessions/$sessionId" params={{ sessionId }} search={true} className={look}>
      {words}
    </Link>
  );
}

/** Reads the title from the cache only: a transcript may name a hundred sessions, and some are gone. */
function useKnownTitle(sessionId: string): string | null {
  const queryClient = useQueryClient();
  const session = queryClient.getQueryData<{ session: Session }>(keys.session(sessionId));
  if (session?.session.title) return session.session.title;
  for (const [, children] of queryClient.getQueriesData<ChildrenOverview>({
    queryKey: keys.allChildren,
  })) {
    const child = children?.items.find((item) => item.sessionId === sessionId);
    if (child?.title) return child.title;
  }
  return null;
}
