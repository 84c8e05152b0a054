import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { CheckCheck } from "lucide-react";
import { type KeyboardEvent, useCallback, useMemo } from "react";
import { api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { InlineError } from "#surfaces/web/kit/field.tsx";
import { useNow } from "#surfaces/web/kit/hooks/use-now.ts";
import { useShortcut } from "#surfaces/web/kit/hooks/use-shortcut.ts";
import { plural } from "#surfaces/web/kit/text/money-words.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import {
  refreshMessages,
  useMessageChange,
  useMessageCount,
  useMessageList,
} from "../use-messages.ts";
import { type Box, filterOf, type InboxSearch, isFiltered } from "./inbox-search.ts";
import { threadsOf } from "./message-threads.ts";
import { focusRow, stepRow } from "./row-focus.ts";
import { type OnChange, ThreadRow } from "./thread-row.tsx";

export function MessageList({ search }: { search: InboxSearch }) {
  const box = search.box ?? "inbox";
  const list = useMessageList(filterOf(search));
  const threads = useMemo(() => threadsOf(list.data), [list.data]);
  const now = useNow(30_000);
  const onChange = useRowChange();
  useShortcut("j", () => stepRow(1));
  useShortcut("k", () => stepRow(-1));
  return (
    <div className="min-h-0 flex-1 overflow-y-auto px-1.5 py-1.5">
      {list.isError && (
        <div className="space-y-2 p-2">
          <InlineError>{messageOf(list.error)}</InlineError>
          <Button size="small" onClick={() => void list.refetch()}>
            Try again
          </Button>
        </div>
      )}
      {list.isPending && <Skeleton />}
      {list.isSuccess && threads.length === 0 && !list.hasNextPage && (
        <Nothing box={box} isFiltered={isFiltered(search)} />
      )}
      {box === "inbox" && threads.length > 0 && <ReadRest />}
      <ul aria-label="Messages" onKeyDown={onArrow}>
        {threads.map((thread) => (
          <ThreadRow key={thread.id} thread={thread} box={box} now={now} onChange={onChange} />
        ))}
      </ul>
      {list.hasNextPage && (
        <div className="py-3 text-center">
          <Button
            size="small"
            disabled={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            {list.isFetchingNextPage ? "Loading…" : "Older messages"}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Closes an open thread that is archived, snoozed or marked as unread: reading on would mark it as read. */
function useRowChange(): OnChange {
  const { mutate } = useMessageChange();
  const navigate = useNavigate();
  const { threadId } = useParams({ strict: false });
  return useCallback(
    (thread, change, done) => {
      mutate({
        threadId: thread.id,
        messages: thread.messages,
        change,
        ...(done !== undefined && { done }),
      });
      if (thread.id === threadId && change.read !== true) {
        void navigate({ to: "/inbox", search: true });
        focusRow(0);
      }
    },
    [mutate, navigate, threadId],
  );
}

function onArrow(event: KeyboardEvent): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step !== 0 && stepRow(step)) event.preventDefault();
}

/** Marks the rest as read, except questions, escalations and approvals: somebody has to act on them. */
function ReadRest() {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const count = useMessageCount();
  const read = useMutation({
    mutationFn: () => api.inbox.readNonActionable(),
    onSuccess: ({ changed }) =>
      toasts.show(
        changed === 0 ? "No unread updates" : `${plural(changed, "message")} marked as read`,
      ),
    onError: (error) => toasts.fail("Could not mark messages as read", error),
    onSettled: () => refreshMessages(queryClient),
  });
  if (count === 0) return null;
  return (
    <div className="flex items-center justify-between gap-2 px-2.5 pb-1 text-xs text-ink-faint">
      <span>{count} unread</span>
      <Button
        size="small"
        look="ghost"
        title="Questions, escalations and approvals stay unread"
        disabled={read.isPending}
        onClick={() => read.mutate()}
      >
        <CheckCheck size={15} aria-hidden />
        Mark updates as read
      </Button>
    </div>
  );
}

const NOTHING: Record<Box, string> = {
  inbox: "Your inbox is empty. Messages from agents and people appear here.",
  snoozed: "No snoozed messages",
  archived: "No archived messages",
  sent: "No sent messages",
};

function Nothing({ box, isFiltered: hasFilter }: { box: Box; isFiltered: boolean }) {
  return (
    <p className="mx-auto max-w-64 px-4 py-12 text-center text-ink-faint">
      {hasFilter ? "No matching messages" : NOTHING[box]}
    </p>
  );
}

function Skeleton() {
  return (
    <div role="status" aria-label="Loading messages" className="space-y-2 p-2">
      {[60, 80, 45].map((width) => (
        <div key={width} className="animate-breathe space-y-2 py-2">
          <div className="h-3 rounded bg-hover" style={{ width: `${width}%` }} />
          <div className="h-2 w-2/3 rounded bg-hover" />
        </div>
      ))}
    </div>
  );
}
