import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useSyncExternalStore } from "react";
import type { LetterEvent } from "#features/mailbox/contract.ts";
import { inboxApi } from "#surfaces/web/kit/inbox-api.ts";
import { threadsOf } from "./letter-threads.ts";
import { refreshLetters, useLetterList } from "./use-letters.ts";

/** What the page of the session shows as well as the letter does. */
const STANDING: ReadonlySet<LetterEvent | null> = new Set(["session.completed", "session.failed"]);

/** Whoever watches a session need not be told that it is done: such a letter counts as read. */
export function useReadStanding(sessionId: string): void {
  const queryClient = useQueryClient();
  const isSeen = useIsSeen();
  const list = useLetterList({ box: "inbox", unreadOnly: true, fromSessionId: sessionId });
  const tried = useRef(new Set<string>());
  useEffect(() => {
    if (!isSeen) return;
    const letters = threadsOf(list.data).flatMap((thread) => thread.letters);
    const news = letters.filter(
      ({ id, eventType, createdAt, read }) =>
        !read && STANDING.has(eventType) && !tried.current.has(`${id} ${createdAt}`),
    );
    if (news.length === 0) return;
    for (const { id, createdAt } of news) tried.current.add(`${id} ${createdAt}`);
    // It is a courtesy: what fails stays unread in the inbox.
    void Promise.allSettled(news.map(({ id }) => inboxApi.change(id, { read: true }))).then(() =>
      refreshLetters(queryClient),
    );
  }, [isSeen, list.data, queryClient]);
}

function useIsSeen(): boolean {
  return useSyncExternalStore(
    (changed) => {
      document.addEventListener("visibilitychange", changed);
      return () => document.removeEventListener("visibilitychange", changed);
    },
    () => document.visibilityState === "visible",
  );
}
