/** Queries and mutations of messages: the count, the lists and one thread. */

import {
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import type { Me } from "#features/auth/contract.ts";
import type { MailMessage } from "#features/mailbox/contract.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys, type MessageFilter } from "#surfaces/web/kit/api/query-keys.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import {
  changeThread,
  type MessageChange,
  type MessagePages,
  undoing,
} from "./list/message-threads.ts";

/** Polling interval: hints may be lost, and new messages must still show up. */
const POLL_MS = 60_000;
/** Polling interval of a pending delivery, for which the server sends no hint. */
const DELIVERY_POLL_MS = 5_000;
/** Limits how much of one thread is loaded and drawn. */
const THREAD_PAGES = 5;

export function useMessageCount(): number {
  const found = useQuery({
    queryKey: keys.messageCount,
    queryFn: ({ signal }) => api.inbox.count({}, { signal }),
    refetchInterval: POLL_MS,
  });
  return found.data?.count ?? 0;
}

export function useMessageList(filter: MessageFilter) {
  return useInfiniteQuery({
    queryKey: keys.messageList(filter),
    queryFn: ({ pageParam, signal }) =>
      api.inbox.list(
        { query: { ...filter, unreadOnly: filter.unreadOnly?.toString(), cursor: pageParam } },
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

export interface Thread {
  messages: MailMessage[];
  /** True if the thread is longer than the page loads. */
  isCut: boolean;
}

/** Loads a thread. Reading marks it as read on the server, so each opening reads it anew. */
export function useThread(threadId: string) {
  const queryClient = useQueryClient();
  return useQuery({
    queryKey: keys.messageThread(threadId),
    queryFn: async ({ signal }) => {
      const thread = await readThread(threadId, signal);
      noteRead(queryClient, threadId);
      return thread;
    },
    staleTime: 0,
    refetchInterval: ({ state }) =>
      state.data?.messages.some(({ fate }) => fate === "waiting") ? DELIVERY_POLL_MS : false,
  });
}

async function readThread(threadId: string, signal: AbortSignal): Promise<Thread> {
  const messages: MailMessage[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < THREAD_PAGES; pages++) {
    const page = await api.inbox.thread(
      { threadId, query: { limit: PAGE_LIMIT_MAX, cursor } },
      { signal },
    );
    messages.push(...page.items);
    if (page.next === null) return { messages, isCut: false };
    cursor = page.next;
  }
  return { messages, isCut: true };
}

function noteRead(queryClient: QueryClient, threadId: string): void {
  const me = queryClient.getQueryData<Me | null>(keys.me)?.user.id;
  queryClient.setQueriesData<MessagePages>(
    { queryKey: keys.messageLists },
    (pages) =>
      pages &&
      changeThread(pages, threadId, (message) =>
        message.to.id === me && !message.read ? { ...message, read: true } : message,
      ),
  );
  void queryClient.invalidateQueries({ queryKey: keys.messageCount });
}

interface MessageChangeRequest {
  threadId: string;
  messages: readonly MailMessage[];
  change: MessageChange;
  /** Toast text after success. */
  done?: string;
}

/** Changes the given messages of one thread. They leave the lists at once and return if the request fails. */
export function useMessageChange() {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const apply = async ({ messages, change }: Pick<MessageChangeRequest, "messages" | "change">) => {
    for (const { id } of messages) await api.inbox.update({ id, body: change });
  };
  const undoChange = useMutation({
    mutationFn: apply,
    onError: (error) => toasts.fail("Could not undo", error),
    onSettled: () => refreshMessages(queryClient),
  });
  return useMutation({
    mutationFn: (request: MessageChangeRequest) => apply(request),
    onMutate: async ({ threadId, messages, change }) => {
      // Reads in flight started before this change and would undo what is shown.
      await queryClient.cancelQueries({ queryKey: keys.messageLists });
      const ids = new Set(messages.map(({ id }) => id));
      const leaves = change.archived !== undefined || change.snoozedUntil !== undefined;
      queryClient.setQueriesData<MessagePages>(
        { queryKey: keys.messageLists },
        (pages) =>
          pages &&
          changeThread(pages, threadId, (message) => {
            if (!ids.has(message.id)) return message;
            return leaves ? undefined : { ...message, read: change.read ?? message.read };
          }),
      );
    },
    onSuccess: (_, { messages, change, done }) => {
      const back = undoing(change);
      const undo = back && {
        name: "Undo",
        run: () => undoChange.mutate({ messages, change: back }),
      };
      if (done) toasts.show(done, undefined, undo);
    },
    onError: (error) => toasts.fail("Could not update the message", error),
    onSettled: () => refreshMessages(queryClient),
  });
}

/** Refreshes what is visible. A thread in a hidden tab is skipped: reading would mark it as read. */
export async function refreshMessages(queryClient: QueryClient): Promise<void> {
  const isSeen = document.visibilityState === "visible";
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: keys.messageCount }),
    queryClient.invalidateQueries({ queryKey: keys.messageLists }),
    queryClient.invalidateQueries({
      queryKey: keys.messageThreads,
      refetchType: isSeen ? "active" : "none",
    }),
  ]);
}
