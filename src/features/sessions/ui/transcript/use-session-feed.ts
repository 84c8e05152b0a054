/**
 * Joins a session's history and its live events. History is read first; live reading starts after its
 * last entry, so nothing is missed and replays change nothing.
 */
import {
  type QueryClient,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import type { Delta, SessionEvent } from "#protocol/events.ts";
import type { Page } from "#protocol/page.ts";
import type { Prompt } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useLive } from "#surfaces/web/kit/live/live-context.tsx";
import { applyDelta, type Drafts, NO_DRAFTS, settleDrafts } from "../composer/drafts.ts";
import { leaveQueue } from "../composer/queue.ts";
import { forgetRedacted } from "../redaction/forget-redacted.ts";
import { lastModelIn } from "../session/session-model.ts";
import { staleAfter } from "../workspace/changed-by.ts";
import {
  addToTail,
  lastSeq,
  mergeEntries,
  NO_TAIL,
  olderThan,
  type Tail,
  TRANSCRIPT_PAGE,
  type TranscriptPages,
} from "./transcript-cache.ts";

type Arrival = { event: SessionEvent } | { delta: Delta } | "reset";

/** Longest wait before arrivals are shown in a tab that draws no frames. */
const HIDDEN_FLUSH_MS = 300;

export function useSessionFeed(sessionId: string) {
  const queryClient = useQueryClient();
  const live = useLive();
  const [drafts, setDrafts] = useState<Drafts>(NO_DRAFTS);
  const transcript = useInfiniteQuery({
    queryKey: keys.transcript(sessionId),
    queryFn: ({ pageParam, signal }) =>
      api.sessions.transcript(
        { id: sessionId, query: { before: pageParam, limit: TRANSCRIPT_PAGE } },
        { signal },
      ),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: olderThan,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const tail = useQuery<Tail>({
    queryKey: keys.tail(sessionId),
    queryFn: () => NO_TAIL,
    initialData: NO_TAIL,
    staleTime: Number.POSITIVE_INFINITY,
  });

  const isReady = transcript.isSuccess;
  useEffect(() => {
    if (!isReady) return;
    const arrivals = gather((batch) => {
      setDrafts((shown) => batch.reduce(stepDrafts, shown));
      takeEvents(queryClient, sessionId, eventsOf(batch));
    });
    const after = lastSeq(
      queryClient.getQueryData<TranscriptPages>(keys.transcript(sessionId)),
      queryClient.getQueryData<Tail>(keys.tail(sessionId)) ?? NO_TAIL,
    );
    const stop = live.subscribe(
      `session:${sessionId}`,
      {
        onEvent: (event) => arrivals.add({ event }),
        onDelta: (delta) => arrivals.add({ delta }),
        onReset: () => arrivals.add("reset"),
      },
      after,
    );
    return () => {
      stop();
      arrivals.cancel();
      setDrafts(NO_DRAFTS);
    };
  }, [isReady, live, queryClient, sessionId]);

  const entries = useMemo(
    () => mergeEntries(transcript.data, tail.data),
    [transcript.data, tail.data],
  );
  return { transcript, entries, drafts };
}

function stepDrafts(drafts: Drafts, arrival: Arrival): Drafts {
  if (arrival === "reset") return NO_DRAFTS;
  return "delta" in arrival
    ? applyDelta(drafts, arrival.delta)
    : settleDrafts(drafts, arrival.event);
}

function eventsOf(batch: readonly Arrival[]): SessionEvent[] {
  return batch.flatMap((arrival) =>
    arrival !== "reset" && "event" in arrival ? [arrival.event] : [],
  );
}

function takeEvents(
  queryClient: QueryClient,
  sessionId: string,
  events: readonly SessionEvent[],
): void {
  if (events.length === 0) return;
  queryClient.setQueryData<Tail>(keys.tail(sessionId), (tail) =>
    addToTail(tail ?? NO_TAIL, events),
  );
  queryClient.setQueryData<Page<Prompt>>(
    keys.queue(sessionId),
    (page) => page && leaveQueue(page, events),
  );
  const model = lastModelIn(events);
  if (model !== undefined) queryClient.setQueryData(keys.lastModel(sessionId), model);
  const stale = staleAfter(events);
  const isStale = (queryKey: readonly unknown[]) =>
    void queryClient.invalidateQueries({ queryKey: queryKey as string[] });
  if (stale.session) isStale(keys.session(sessionId));
  if (stale.queue) isStale(keys.queue(sessionId));
  if (stale.approvals) isStale(keys.approvals);
  if (stale.changes) isStale(keys.sessionChanges(sessionId));
  if (stale.usage) isStale(keys.sessionUsage(sessionId));
  for (const id of stale.prompts) isStale(keys.prompt(id));
  if (stale.redacted.length > 0) forgetRedacted(queryClient, sessionId, stale.redacted);
}

/** Passes on arrivals once per frame, in order. */
function gather(take: (batch: Arrival[]) => void) {
  let waiting: Arrival[] = [];
  let frame = 0;
  let timer = 0;
  const cancel = () => {
    cancelAnimationFrame(frame);
    window.clearTimeout(timer);
    waiting = [];
  };
  const flush = () => {
    const batch = waiting;
    cancel();
    if (batch.length > 0) take(batch);
  };
  const add = (arrival: Arrival) => {
    if (waiting.length === 0) {
      frame = requestAnimationFrame(flush);
      timer = window.setTimeout(flush, HIDDEN_FLUSH_MS);
    }
    waiting.push(arrival);
  };
  return { add, cancel };
}
