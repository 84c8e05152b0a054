import { type QueryClient, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { DecisionRequest } from "#features/approvals/contract.ts";
import type { Me } from "#features/auth/contract.ts";
import type { Page } from "#protocol/page.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import { ApiError, api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import type { Approval } from "#surfaces/web/kit/approval.ts";

/** Polling interval: hints may be lost, and pending approvals must still show up. */
const POLL_MS = 60_000;
/** Delay before buttons act: a click meant for something else must not hit a card that just appeared. */
const ARMED_AFTER_MS = 350;
const CARD_EXIT_MS = 100;

export function usePendingApprovals() {
  return useQuery({
    queryKey: keys.pendingApprovals,
    queryFn: ({ signal }) =>
      api.approvals.list({ query: { state: "pending", limit: PAGE_LIMIT_MAX } }, { signal }),
    refetchInterval: POLL_MS,
  });
}

export function useSessionApprovals(sessionId: string) {
  return useQuery({
    queryKey: keys.sessionApprovals(sessionId),
    queryFn: ({ signal }) =>
      api.approvals.list({ query: { session: sessionId, limit: PAGE_LIMIT_MAX } }, { signal }),
  });
}

/** Sends the answer once: a second click while the first is in flight is ignored. */
export function useAnswer(approval: Approval) {
  const queryClient = useQueryClient();
  const isSending = useRef(false);
  const send = useMutation({
    mutationFn: (answer: DecisionRequest) =>
      api.approvals.decide({ id: approval.id, body: answer }),
    onSuccess: ({ approval: updated }, answer) => {
      const me = queryClient.getQueryData<Me | null>(keys.me);
      focusComposer();
      place(queryClient, updated ?? decided(approval, answer, me?.user.id ?? null));
    },
    onSettled: () => {
      isSending.current = false;
      void queryClient.invalidateQueries({ queryKey: keys.approvals });
      void queryClient.invalidateQueries({ queryKey: keys.rules });
      void queryClient.invalidateQueries({ queryKey: keys.session(approval.sessionId) });
    },
  });
  return {
    answer: (answer: DecisionRequest) => {
      if (isSending.current || send.isSuccess) return;
      isSending.current = true;
      send.mutate(answer);
    },
    isBusy: send.isPending || send.isSuccess,
    problem: send.error === null ? null : problemWords(send.error),
  };
}

/** Moves the focus to the prompt box if it was lost together with the decided card. */
function focusComposer(): void {
  const isNowhere = () => {
    const { activeElement } = document;
    return activeElement === null || activeElement === document.body;
  };
  window.setTimeout(() => {
    if (isNowhere()) document.querySelector<HTMLElement>("[data-composer]")?.focus();
  }, CARD_EXIT_MS);
}

/** Explains a refused answer: the first answer stands, and an expired question counts as a no. */
function problemWords(error: Error): string {
  if (error instanceof ApiError && error.code === "already_decided")
    return "Already answered, by someone else or in another window.";
  if (error instanceof ApiError && error.code === "approval_expired")
    return "This request expired and counts as denied. The agent can ask again.";
  return error.message;
}

function decided(approval: Approval, answer: DecisionRequest, by: string | null): Approval {
  const base = { ...approval, state: "decided" as const, decidedBy: by };
  const { decision = null, scope = "once", reason = null, answers } = answer;
  if (answers) return { ...base, decision: "allow", scope: "once", answers };
  return { ...base, decision, scope, reason };
}

function place(queryClient: QueryClient, approval: Approval): void {
  queryClient.setQueryData<Page<Approval>>(
    keys.pendingApprovals,
    (page) => page && { ...page, items: page.items.filter(({ id }) => id !== approval.id) },
  );
  queryClient.setQueryData<Page<Approval>>(
    keys.sessionApprovals(approval.sessionId),
    (page) =>
      page && {
        ...page,
        items: page.items.map((item) =>
          item.id === approval.id ? { ...item, ...approval } : item,
        ),
      },
  );
}

export function useArmed(): boolean {
  const [isArmed, setIsArmed] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setIsArmed(true), ARMED_AFTER_MS);
    return () => window.clearTimeout(timer);
  }, []);
  return isArmed;
}
