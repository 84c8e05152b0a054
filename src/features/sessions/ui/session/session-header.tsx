import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Pencil } from "lucide-react";
import { type FormEvent, useState } from "react";
import { UNTITLED } from "#features/sessions/ui/list/untitled.ts";
import { shareSession } from "#features/sessions/ui/list/use-session-lists.ts";
import { useChildrenOverview } from "#features/sessions/ui/tree/use-children.ts";
import { OrchestrationButton } from "#features/supervision/ui/orchestration-button.tsx";
import { BoardLink } from "#features/tasks/ui/board-link.tsx";
import type { Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { Button, IconButton } from "#surfaces/web/kit/button.tsx";
import { ConnectionTrouble } from "#surfaces/web/kit/connection-mark.tsx";
import { focusOnMount } from "#surfaces/web/kit/hooks/focus-on-mount.ts";
import { DrawerButton } from "#surfaces/web/kit/side-drawer.tsx";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { hasChildren } from "../tree/children-words.ts";
import { WorkspaceButtons } from "../workspace/workspace-buttons.tsx";
import { HeaderActions } from "./header-actions.tsx";
import { ParentCrumb } from "./parent-crumb.tsx";
import { SessionFacts } from "./session-facts.tsx";

interface SessionHeaderProps {
  session: Session;
  /** Name, if it is not the title; then it cannot be renamed here. */
  name?: string | undefined;
  isReviewing: boolean;
  onReview: () => void;
  isOrchestrating: boolean;
  onOrchestrate: () => void;
}

export function SessionHeader({
  session,
  name,
  isReviewing,
  onReview,
  isOrchestrating,
  onOrchestrate,
}: SessionHeaderProps) {
  const overview = useChildrenOverview(session.id, session.parentSessionId === null);
  const isParent = overview !== undefined && hasChildren(overview);
  const isPutAway = session.lifecycle === "archived" || session.lifecycle === "terminated";
  return (
    <header className="flex min-h-14 shrink-0 items-center gap-1 border-b border-line py-2 pr-2 pl-2 md:pl-5">
      <DrawerButton />
      <div className="@container min-w-0 flex-1">
        <ParentCrumb session={session} />
        {name === undefined ? (
          <Title session={session} />
        ) : (
          <h1 className="truncate text-[0.9375rem] font-semibold">{revealLine(name)}</h1>
        )}
        <SessionFacts session={session} overview={overview} isPutAway={isPutAway} />
      </div>
      <div className="md:hidden">
        <ConnectionTrouble />
      </div>
      <BoardLink session={session} />
      <OrchestrationButton session={session} isOpen={isOrchestrating} onClick={onOrchestrate} />
      <WorkspaceButtons sessionId={session.id} isOpen={isReviewing} onClick={onReview} />
      {!isPutAway && <HeaderActions session={session} hasChildren={isParent} />}
    </header>
  );
}

function Title({ session }: { session: Session }) {
  const [text, setText] = useState<string | null>(null);
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const rename = useMutation({
    mutationFn: (title: string) => api.sessions.update({ id: session.id, body: { title } }),
    onSuccess: ({ session: renamed }) => {
      shareSession(queryClient, renamed);
      setText(null);
    },
    onError: (error) => toasts.fail("Couldn't rename the session", error),
  });
  if (text === null) {
    return (
      <div className="group flex min-w-0 items-center gap-1">
        <h1 className="truncate text-[0.9375rem] font-semibold">
          {revealLine(session.title ?? UNTITLED)}
        </h1>
        <IconButton
          label="Rename session"
          size="small"
          className="-my-1 opacity-0 group-hover:opacity-100 focus-visible:opacity-100 max-md:opacity-100"
          onClick={() => setText(session.title ?? "")}
        >
          <Pencil size={14} aria-hidden />
        </IconButton>
      </div>
    );
  }
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const title = text.trim();
    if (title === "" || title === session.title) setText(null);
    else rename.mutate(title);
  };
  return (
    <form className="flex items-center gap-1.5" onSubmit={submit}>
      <input
        aria-label="Session title"
        ref={focusOnMount}
        maxLength={200}
        value={text}
        disabled={rename.isPending}
        onFocus={(event) => event.target.select()}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => event.key === "Escape" && setText(null)}
        className="h-7 min-w-0 flex-1 rounded-md border border-line-strong bg-raised px-2 font-semibold outline-none focus:border-accent md:max-w-md"
      />
      <Button type="submit" size="small" look="primary" disabled={rename.isPending}>
        Save
      </Button>
      <Button size="small" look="ghost" onClick={() => setText(null)}>
        Cancel
      </Button>
    </form>
  );
}
