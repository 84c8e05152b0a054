/** Queries and mutations of messages: the count, the lists and one thread. */

import {
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import type { Me } from "#features/auth/contract.ts";
import type { Letter } from "#features/mailbox/contract.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys, type LetterFilter } from "#surfaces/web/kit/api/query-keys.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import {
  changeThread,
  type LetterChange,
  type LetterPages,
  undoing,
} from "./list/letter-threads.ts";

/** Polling interval: hints may be lost, and new messages must still show up. */
const POLL_MS = 60_000;
/** Polling interval of a pending delivery, for which the server sends no hint. */
const DELIVERY_POLL_MS = 5_000;
/** Limits how much of one thread is loaded and drawn. */
const THREAD_PAGES = 5;

export function useLetterCount(): number {
  const found = useQuery({
    queryKey: keys.letterCount,
    queryFn: ({ signal }) => api.inbox.count({}, { signal }),
    refetchInterval: POLL_MS,
  });
  return found.data?.count ?? 0;
}

export function useLetterList(filter: LetterFilter) {
  return useInfiniteQuery({
    queryKey: keys.letterList(filter),
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
  letters: Letter[];
  /** True if the thread is longer than the page loads. */
  isCut: boolean;
}

/** Loads a thread. Reading marks it as read on the server, so each opening reads it anew. */
export function useThread(threadId: string) {
  const queryClient = useQueryClient();
  return useQuery({
    queryKey: keys.letterThread(threadId),
    queryFn: async ({ signal }) => {
      const thread = await readThread(threadId, signal);
      noteRead(queryClient, threadId);
      return thread;
    },
    staleTime: 0,
    refetchInterval: ({ state }) =>
      state.data?.letters.some(({ fate }) => fate === "waiting") ? DELIVERY_POLL_MS : false,
  });
}

async function readThread(threadId: string, signal: AbortSignal): Promise<Thread> {
  const letters: Letter[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < THREAD_PAGES; pages++) {
    const page = await api.inbox.thread(
      { threadId, query: { limit: PAGE_LIMIT_MAX, cursor } },
      { signal },
    );
    letters.push(...page.items);
    if (page.next === null) return { letters, isCut: false };
    cursor = page.next;
  }
  return { letters, isCut: true };
}

function noteRead(queryClient: QueryClient, threadId: string): void {
  const me = queryClient.getQueryData<Me | null>(keys.me)?.user.id;
  queryClient.setQueriesData<LetterPages>(
    { queryKey: keys.letterLists },
    (pages) =>
      pages &&
      changeThread(pages, threadId, (letter) =>
        letter.to.id === me && !letter.read ? { ...letter, read: true } : letter,
      ),
  );
  void queryClient.invalidateQueries({ queryKey: keys.letterCount });
}

interface LetterChangeRequest {
  threadId: string;
  letters: readonly Letter[];
  change: LetterChange;
  /** Toast text after success. */
  done?: string;
}

/** Changes the given messages of one thread. They leave the lists at once and return if the request fails. */
export function useLetterChange() {
  const queryClient = useQueryClient();
  const toasts = useToasts();
  const apply = async ({ letters, change }: Pick<LetterChangeRequest, "letters" | "change">) => {
    for (const { id } of letters) await api.inbox.update({ id, body: change });
  };
  const undoChange = useMutation({
    mutationFn: apply,
    onError: (error) => toasts.fail("It could not be undone", error),
    onSettled: () => refreshLetters(queryClient),
  });
  return useMutation({
    mutationFn: (request: LetterChangeRequest) => apply(request),
    onMutate: async ({ threadId, letters, change }) => {
      // Reads in flight started before this change and would undo what is shown.
      await queryClient.cancelQueries({ queryKey: keys.letterLists });
      const ids = new Set(letters.map(({ id }) => id));
      const leaves = change.archived !== undefined || change.snoozedUntil !== undefined;
      queryClient.setQueriesData<LetterPages>(
        { queryKey: keys.letterLists },
        (pages) =>
          pages &&
          changeThread(pages, threadId, (letter) => {
            if (!ids.has(letter.id)) return letter;
            return leaves ? undefined : { ...letter, read: change.read ?? letter.read };
          }),
      );
    },
    onSuccess: (_, { letters, change, done }) => {
      const back = undoing(change);
      const undo = back && {
        name: "Undo",
        run: () => undoChange.mutate({ letters, change: back }),
      };
      if (done) toasts.say(done, undefined, undo);
    },
    onError: (error) => toasts.fail("The letter was not changed", error),
    onSettled: () => refreshLetters(queryClient),
  });
}

/** Refreshes what is visible. A thread in a hidden tab is skipped: reading would mark it as read. */
export async function refreshLetters(queryClient: QueryClient): Promise<void> {
  const isSeen = document.visibilityState === "visible";
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: keys.letterCount }),
    queryClient.invalidateQueries({ queryKey: keys.letterLists }),
    queryClient.invalidateQueries({
      queryKey: keys.letterThreads,
      refetchType: isSeen ? "active" : "none",
    }),
  ]);
}
