import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { LoaderCircle, TriangleAlert } from "lucide-react";
import { PAGE_LIMIT_MAX } from "#protocol/page-limits.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import type { OutboxItem } from "#surfaces/web/kit/prompts/prompt-outbox.ts";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { orderQueue } from "./queue.ts";
import { QueuedPrompt } from "./queued-prompt.tsx";
import type { Submissions } from "./use-submissions.ts";

/** Lists queued prompts, and those still being sent to the server. */
export function QueuePanel({
  sessionId,
  submissions,
}: {
  sessionId: string;
  submissions: Submissions;
}) {
  const found = useQuery({
    queryKey: keys.queue(sessionId),
    queryFn: ({ signal }) =>
      api.prompts.list(
        { id: sessionId, query: { state: "queued,collecting", limit: PAGE_LIMIT_MAX } },
        { signal },
      ),
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
          {queue.length === 1 ? "1 prompt queued" : `${queue.length} prompts queued`}
        </h2>
      )}
      <ul className="divide-y divide-line">
        {queue.map((prompt) => (
          <QueuedPrompt key={prompt.id} prompt={prompt} />
        ))}
        {submissions.items.map((item) => (
          <UnsentItem key={item.dispatchId} item={item} submissions={submissions} />
        ))}
      </ul>
    </section>
  );
}

function UnsentItem({ item, submissions }: { item: OutboxItem; submissions: Submissions }) {
  const { content, problem, isStuck, isBusy } = item;
  return (
    <li className="flex items-center gap-2.5 px-3 py-2">
      {isStuck ? (
        <TriangleAlert size={14} aria-hidden className="shrink-0 text-bad" />
      ) : (
        <LoaderCircle size={14} aria-hidden className="shrink-0 animate-spin text-ink-faint" />
      )}
      <div className="min-w-0 flex-1">
        <p className="truncate">{revealLine(content)}</p>
        <p role="status" className={clsx("text-2xs", isStuck ? "text-bad" : "text-ink-faint")}>
          {isStuck ? problem : waitingWords(problem, isBusy)}
        </p>
      </div>
      {isStuck && (
        <Button size="small" onClick={() => submissions.retry(item)}>
          Try again
        </Button>
      )}
      {problem !== null && (
        <Button size="small" look="ghost" onClick={() => submissions.discard(item)}>
          Discard
        </Button>
      )}
    </li>
  );
}

function waitingWords(problem: string | null, isBusy: boolean): string {
  if (problem === null) return "Sending…";
  return isBusy
    ? `${problem} Saved here; retrying automatically.`
    : "Saved here. Sent as soon as the server responds.";
}
