import { useQuery } from "@tanstack/react-query";
import { CircleCheck } from "lucide-react";
import { GateRow } from "#features/approvals/ui/gate-row.tsx";
import { useSessionApprovals } from "#features/approvals/ui/use-approvals.ts";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";

/** Lists the reader's pending approvals: one that a message is about is in this list or has been decided. */
function usePending() {
  return useQuery({
    queryKey: keys.pendingApprovals,
    queryFn: ({ signal }) =>
      api.approvals.list({ query: { state: "pending", limit: PAGE_LIMIT_MAX } }, { signal }),
    // The message may be newer than the cached list.
    staleTime: 0,
  });
}

export function useIsPending(gateIds: readonly string[]): boolean {
  const items = usePending().data?.items ?? [];
  return items.some(({ id }) => gateIds.includes(id));
}

/** Shows the question itself, so that it can be decided in the inbox. */
export function MessageGate({ gateId, sessionId }: { gateId: string; sessionId: string }) {
  const pending = usePending();
  const approval = pending.data?.items.find(({ id }) => id === gateId);
  if (approval) return <GateRow approval={approval} />;
  if (pending.isFetching)
    return (
      <p role="status" className="text-xs text-ink-faint">
        Checking whether it is still pending…
      </p>
    );
  return <Settled gateId={gateId} sessionId={sessionId} />;
}

/** Shows the decision, as far as the session's own list still has it. */
function Settled({ gateId, sessionId }: { gateId: string; sessionId: string }) {
  const known = useSessionApprovals(sessionId).data?.items;
  const approval = known?.find(({ id, state }) => id === gateId && state !== "pending");
  return (
    <div className="space-y-1">
      <p className="flex items-center gap-1.5 text-xs text-ink-faint">
        <CircleCheck size={14} aria-hidden />
        Already decided. No action needed.
      </p>
      {approval && <GateRow approval={approval} />}
    </div>
  );
}
