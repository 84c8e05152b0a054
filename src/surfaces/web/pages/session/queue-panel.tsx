import { useQuery } from "@tanstack/react-query";
import { LoaderCircle, TriangleAlert } from "lucide-react";
import { api } from "#surfaces/web/kit/api.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { keys } from "#surfaces/web/kit/query-keys.ts";
import { useToasts } from "#surfaces/web/kit/toast.tsx";
import { orderQueue } from "./queue.ts";
import { QueuedPrompt } from "./queued-prompt.tsx";
import type { Submission, Submissions } from "./use-submissions.ts";

/** What waits to be run, and what is still on its way to the server. */
export function QueuePanel({
  sessionId,
  submissions,
}: {
  sessionId: string;
  submissions: Submissions;
}) {
  const found = useQuery({
    queryKey: keys.queue(sessionId),
    queryFn: ({ signal }) => api.listQueue(sessionId, signal),
    staleTime: 0,
  });
  const queue = orderQueue(found.data?.items ?? []);
  if (queue.length === 0 && submissions.items.length === 0) return null;
  return (
    <section
      aria-label="Queue"
      className="mb-2 max-h-[32dvh] overflow-y-auto rounded-xl border border-line bg-panel"
    >
      {queue.length > 0 && (
        <h2 className="px-3 pt-2 text-2xs font-medium text-ink-faint">
          {queue.length === 1 ? "1 prompt waits" : `${queue.length} prompts wait`}
        </h2>
      )}
      <ul className="divide-y divide-line">
        {queue.map((prompt) => (
          <QueuedPrompt key={prompt.id} prompt={prompt} />
        ))}
        {submissions.items.map((submission) => (
          <OnItsWay key={submission.dispatchId} submission={submission} submissions={submissions} />
        ))}
      </ul>
    </section>
  );
}

function OnItsWay({
  submission,
  submissions,
}: {
  submission: Submission;
  submissions: Submissions;
}) {
  const toasts = useToasts();
  const retry = async () => {
    const refused = await submissions.retry(submission);
    if (refused) toasts.fail("The prompt was refused", refused.error);
  };
  return (
    <li className="flex items-center gap-2.5 px-3 py-2">
      {submission.problem === null ? (
        <LoaderCircle size={14} aria-hidden className="shrink-0 animate-spin text-ink-faint" />
      ) : (
        <TriangleAlert size={14} aria-hidden className="shrink-0 text-bad" />
      )}
      <div className="min-w-0 flex-1">
        <p className="truncate">{submission.content}</p>
        <p
          role="status"
          className={submission.problem === null ? "text-2xs text-ink-faint" : "text-2xs text-bad"}
        >
          {submission.problem === null ? "Sending…" : `Not confirmed. ${submission.problem}`}
        </p>
      </div>
      {submission.problem !== null && (
        <>
          <Button size="small" onClick={() => void retry()}>
            Retry
          </Button>
          <Button
            size="small"
            look="ghost"
            onClick={() => submissions.discard(submission.dispatchId)}
          >
            Discard
          </Button>
        </>
      )}
    </li>
  );
}
