import { useQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { UNTITLED } from "#features/sessions/ui/list/untitled.ts";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useMyOrchestrator } from "#surfaces/web/kit/hooks/use-orchestrator.ts";
import { SessionLink } from "./session-link.tsx";

/** Links a child to its parent. */
export function ParentCrumb({ session }: { session: Session }) {
  const parentId = session.parentSessionId;
  return parentId === null ? null : <Crumb parentId={parentId} />;
}

function Crumb({ parentId }: { parentId: string }) {
  const mine = useMyOrchestrator().data;
  const parent = useQuery({
    queryKey: keys.session(parentId),
    queryFn: ({ signal }) => api.sessions.get({ id: parentId }, { signal }),
  });
  const ownName = mine?.session?.id === parentId ? mine.identity?.name : undefined;
  return (
    <nav aria-label="Parent" className="flex items-center gap-0.5 text-2xs">
      <SessionLink
        sessionId={parentId}
        name={ownName ?? parent.data?.session.title ?? UNTITLED}
        className="truncate"
      />
      <ChevronRight size={12} aria-hidden className="shrink-0 text-ink-faint" />
    </nav>
  );
}
