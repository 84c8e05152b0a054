import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useParams } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useState } from "react";
import { UNTITLED } from "#features/sessions/ui/list/untitled.ts";
import { SessionLink } from "#features/sessions/ui/session/session-link.tsx";
import { ORCHESTRATOR } from "#protocol/names/session-ids.ts";
import type { Session } from "#protocol/sessions.ts";
import { ApiError, api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { useDocumentTitle } from "#surfaces/web/kit/hooks/use-document-title.ts";
import { useStartedOrchestrator } from "#surfaces/web/kit/hooks/use-orchestrator.ts";
import { PageMessage } from "#surfaces/web/kit/page-message.tsx";
import { DrawerButton } from "#surfaces/web/kit/side-drawer.tsx";
import { BoardColumns } from "./board-columns.tsx";
import { NewTaskDialog } from "./new-task-dialog.tsx";
import { AFTER_DELETING } from "./task-sheet-focus.ts";
import { BoardProvider, type Column, useBoard, useBoardChanges, useColumn } from "./use-board.ts";

/** Board of one's own orchestrator or of any session; the address says which. */
export function BoardPage() {
  const { sessionId } = useParams({ from: "/app/board/$sessionId" });
  return sessionId === ORCHESTRATOR ? (
    <OwnBoard />
  ) : (
    <SessionBoard key={sessionId} sessionId={sessionId} />
  );
}

/** Creates the orchestrator when there is none, as its conversation page does. */
function OwnBoard() {
  const { mine, problem, start } = useStartedOrchestrator();
  const { session, identity } = mine.data ?? {};
  if (session)
    return (
      <Board
        boardId={session.id}
        name={identity?.name ?? "Your orchestrator"}
        param={ORCHESTRATOR}
      />
    );
  if (problem !== null)
    return (
      <Trouble
        title="Couldn't start your orchestrator"
        text={problem}
        onRetry={() => void start()}
      />
    );
  if (mine.isError)
    return (
      <Trouble
        title="Couldn't load the board"
        text={messageOf(mine.error)}
        onRetry={() => void mine.refetch()}
      />
    );
  return <div role="status" aria-label="Loading the board" className="h-full" />;
}

function SessionBoard({ sessionId }: { sessionId: string }) {
  const found = useQuery({
    queryKey: keys.session(sessionId),
    queryFn: ({ signal }) => api.sessions.get({ id: sessionId }, { signal }),
  });
  if (found.data) return <BoardOf session={found.data.session} />;
  if (!found.isError)
    return <div role="status" aria-label="Loading the board" className="h-full" />;
  const isMissing = found.error instanceof ApiError && found.error.status === 404;
  return (
    <Trouble
      title={isMissing ? "Board not found" : "Couldn't load the board"}
      text={
        isMissing ? "Its session was deleted, or you don't have access." : messageOf(found.error)
      }
      onRetry={isMissing ? undefined : () => void found.refetch()}
    />
  );
}

/** Children have no board of their own: they share the board of the root session. */
function BoardOf({ session }: { session: Session }) {
  if (session.parentSessionId !== null) return <SessionBoard sessionId={session.rootSessionId} />;
  const fallback = session.isOrchestrator ? "Orchestrator" : UNTITLED;
  return <Board boardId={session.id} name={session.title ?? fallback} param={session.id} />;
}

interface TroubleProps {
  title: string;
  text: string;
  onRetry: (() => void) | undefined;
}

function Trouble({ title, text, onRetry }: TroubleProps) {
  useDocumentTitle(title);
  return (
    <div className="relative h-full">
      <div className="absolute top-2.5 left-2">
        <DrawerButton />
      </div>
      <PageMessage title={title}>
        <p role="alert">{text}</p>
        <div className="mt-4 flex justify-center gap-2">
          {onRetry && <Button onClick={onRetry}>Try again</Button>}
          <Link to="/board" search={true} className="px-3 py-2 text-accent underline">
            Go to your board
          </Link>
        </div>
      </PageMessage>
    </div>
  );
}

interface BoardProps {
  boardId: string;
  name: string;
  param: string;
}

function Board({ boardId, name, param }: BoardProps) {
  useDocumentTitle(param === ORCHESTRATOR ? "Board" : `Board of ${name}`);
  useBoardChanges(boardId);
  const columns = [
    useColumn(boardId, "pending"),
    useColumn(boardId, "in_progress"),
    useColumn(boardId, "blocked"),
    useColumn(boardId, "completed"),
    useColumn(boardId, "failed"),
  ];
  const [isCreating, setIsCreating] = useState(false);
  return (
    <BoardProvider value={{ boardId, name, param }}>
      <div className="flex h-full flex-col">
        <header className="flex min-h-14 shrink-0 items-center gap-1 border-b border-line px-2 md:px-6">
          <DrawerButton />
          <div className="min-w-0 flex-1">
            <h1 className="text-[0.9375rem] font-semibold">Board</h1>
            <p className="truncate text-xs text-ink-faint">
              <SessionLink sessionId={boardId} name={name} /> and its child sessions
            </p>
          </div>
          <Button look="primary" {...AFTER_DELETING} onClick={() => setIsCreating(true)}>
            <Plus size={16} aria-hidden />
            New task
          </Button>
        </header>
        {isEmpty(columns) ? (
          <NothingYet onCreate={() => setIsCreating(true)} />
        ) : (
          <BoardColumns columns={columns} />
        )}
      </div>
      {isCreating && <NewTaskDialog onClose={() => setIsCreating(false)} />}
      <Outlet />
    </BoardProvider>
  );
}

/** True once all columns are loaded and empty; a board that still loads is not called empty. */
function isEmpty(columns: readonly Column[]): boolean {
  return columns.every(({ found, tasks }) => found.data !== undefined && tasks.length === 0);
}

function NothingYet({ onCreate }: { onCreate: () => void }) {
  const { boardId, name } = useBoard();
  return (
    <PageMessage isPart title="No tasks yet">
      <p>
        Create a task, or ask <SessionLink sessionId={boardId} name={name} /> for work with several
        steps. Its tasks, their assignees and blockers appear here.
      </p>
      <Button look="primary" className="mt-4" onClick={onCreate}>
        <Plus size={16} aria-hidden />
        New task
      </Button>
    </PageMessage>
  );
}
