import { Link } from "@tanstack/react-router";
import { SquareKanban } from "lucide-react";
import { ORCHESTRATOR } from "#protocol/names/session-ids.ts";
import type { Session } from "#protocol/sessions.ts";
import { useMyOrchestrator } from "#surfaces/web/kit/hooks/use-orchestrator.ts";

/** Links a session to the board that its tree shares. */
export function BoardLink({ session }: { session: Session }) {
  const mine = useMyOrchestrator().data?.session?.id;
  const boardId = session.parentSessionId === null ? session.id : session.rootSessionId;
  return (
    <Link
      to="/board/$sessionId"
      params={{ sessionId: boardId === mine ? ORCHESTRATOR : boardId }}
      search={true}
      title="Tasks of this session"
      className="inline-flex h-9 shrink-0 items-center gap-1.5 rounded-lg px-3 font-medium text-ink-soft select-none hover:bg-hover hover:text-ink max-md:px-2.5"
    >
      <SquareKanban size={17} aria-hidden />
      <span className="max-md:sr-only">Tasks</span>
    </Link>
  );
}
