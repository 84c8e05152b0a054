import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { useModels } from "#features/providers/ui/use-models.ts";
import type { Prompt, Session } from "#protocol/sessions.ts";
import { api } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { useIsAdmin } from "#surfaces/web/kit/hooks/use-me.ts";
import { Revealed } from "#surfaces/web/kit/text/revealed.tsx";
import { FailureActions } from "./failure-actions.tsx";
import { troubleOf } from "./trouble.ts";

/** Shows under the header why the last turn failed or the model cannot be used, and the actions. */
export function TroubleBar({ session }: { session: Session }) {
  const isPutAway = session.lifecycle === "archived" || session.lifecycle === "terminated";
  const failed = useFailedPrompt(session);
  const models = useModels();
  const isAdmin = useIsAdmin();
  const trouble = isPutAway ? null : troubleOf(session, failed, models);
  if (trouble === null) return null;
  const { title, text, promptId } = trouble;
  return (
    <section
      aria-label="Problem"
      data-testid="trouble"
      className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-2 border-b border-bad/25 bg-bad-soft px-4 py-2 text-xs"
    >
      <TriangleAlert size={15} aria-hidden className="shrink-0 self-start text-bad" />
      <div role="status" className="min-w-0 flex-1 basis-64">
        <p className="font-semibold break-words text-bad">
          <Revealed text={title} />
        </p>
        <p className="max-h-20 overflow-y-auto break-words text-ink-soft">
          <Revealed text={text} />
        </p>
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <FailureActions session={session} promptId={promptId} />
        {session.runtime === "native" && isAdmin && (
          <Link
            to="/models"
            search={true}
            className="inline-flex h-7 items-center px-1 text-accent underline underline-offset-2"
          >
            Set up models
          </Link>
        )}
      </div>
    </section>
  );
}

/** Number of settled prompts to search: prompts of other threads may be newer than the failed one. */
const SEARCHED_PROMPTS = 5;

function useFailedPrompt({ id, status }: Session): Prompt | undefined {
  const found = useQuery({
    queryKey: keys.failed(id),
    queryFn: ({ signal }) =>
      api.prompts.list({ id, query: { state: "settled", limit: SEARCHED_PROMPTS } }, { signal }),
    enabled: status === "error",
  });
  if (status !== "error") return undefined;
  return found.data?.items.find(({ outcome }) => outcome === "failed");
}
