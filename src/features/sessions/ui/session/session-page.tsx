import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import { useSessionApprovals } from "#features/approvals/ui/use-approvals.ts";
import { UNTITLED } from "#features/sessions/ui/list/untitled.ts";
import { OrchestrationPanel } from "#features/supervision/ui/orchestration-panel.tsx";
import type { Activity, Session } from "#protocol/sessions.ts";
import { ApiError, api, messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import type { Approval } from "#surfaces/web/kit/approval.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { useDocumentTitle } from "#surfaces/web/kit/hooks/use-document-title.ts";
import { PageMessage } from "#surfaces/web/kit/page-message.tsx";
import { Composer } from "../composer/composer.tsx";
import { QueuePanel } from "../composer/queue-panel.tsx";
import { useSubmissions } from "../composer/use-submissions.ts";
import { RedactProvider } from "../redaction/redact-entry.tsx";
import { useEntryTarget } from "../transcript/entry-target.ts";
import { buildRows, type Row } from "../transcript/rows.ts";
import { Transcript } from "../transcript/transcript.tsx";
import { useSessionFeed } from "../transcript/use-session-feed.ts";
import { ChangesAside } from "../workspace/changes-aside.tsx";
import { SessionHeader } from "./session-header.tsx";
import { speakerOf, useSessionModel } from "./session-model.ts";
import { TroubleBar } from "./trouble-bar.tsx";
import { WaitNotice } from "./wait-notice.tsx";

export function SessionPage() {
  const { sessionId } = useParams({ from: "/app/sessions/$sessionId" });
  return <OneSession key={sessionId} sessionId={sessionId} />;
}

interface OneSessionProps {
  sessionId: string;
  /** Name, if it is not the title. */
  name?: string | undefined;
  /** Shown before the first prompt. */
  welcome?: ReactNode;
  /** Shown between the header and the transcript. */
  notice?: ReactNode;
}

export function OneSession({ sessionId, name, welcome, notice }: OneSessionProps) {
  const found = useQuery({
    queryKey: keys.session(sessionId),
    queryFn: ({ signal }) => api.sessions.get({ id: sessionId }, { signal }),
    // Runners that come or go change what a session waits for without an event of the session.
    refetchInterval: ({ state }) =>
      MAY_CHANGE_SILENTLY.has(state.data?.session.activity ?? "idle") ? REFRESH_MS : false,
  });
  useDocumentTitle(name ?? found.data?.session.title ?? UNTITLED);
  if (found.data) {
    const { session } = found.data;
    return <OpenSession session={session} name={name} welcome={welcome} notice={notice} />;
  }
  if (!found.isError)
    return <div role="status" aria-label="Loading the session" className="h-full" />;
  const isMissing = found.error instanceof ApiError && found.error.status === 404;
  return (
    <PageMessage title={isMissing ? "Session not found" : "Couldn't load the session"}>
      <p>{isMissing ? "It was deleted, or you don't have access." : messageOf(found.error)}</p>
      <div className="mt-4 flex justify-center gap-2">
        {!isMissing && <Button onClick={() => void found.refetch()}>Try again</Button>}
        <Link to="/" search={true} className="px-3 py-2 text-accent underline underline-offset-2">
          Go to your orchestrator
        </Link>
      </div>
    </PageMessage>
  );
}

/** Activities with a turn under way, even if it may have to be restarted. */
const BUSY: ReadonlySet<Activity> = new Set(["working", "recovering", "unknown"]);
const REFRESH_MS = 5_000;
const MAY_CHANGE_SILENTLY: ReadonlySet<Activity> = new Set([
  "working",
  "waiting",
  "recovering",
  "unknown",
]);

/** True before the person's first prompt; an orchestrator may have notices before that. */
function hasNoPrompt({ counts, isOrchestrator }: Session, rows: readonly Row[]): boolean {
  if (counts.prompts === 0) return true;
  const isEmptyOrPrompted = rows.length === 0 || rows.some(({ type }) => type === "prompt");
  return isOrchestrator && counts.queued === 0 && !isEmptyOrPrompted;
}

function hasOpenQuestion(approvals: readonly Approval[] | undefined, sessionId: string): boolean {
  return (approvals ?? []).some(
    (one) => one.kind === "question" && one.state === "pending" && one.sessionId === sessionId,
  );
}

interface OpenSessionProps extends Omit<OneSessionProps, "sessionId"> {
  session: Session;
}

function OpenSession({ session, name, welcome, notice }: OpenSessionProps) {
  const { transcript, entries, drafts } = useSessionFeed(session.id);
  const submissions = useSubmissions(session.id);
  const model = useSessionModel(session);
  const approvals = useSessionApprovals(session.id).data?.items;
  const [isReviewing, setIsReviewing] = useState(false);
  const [isOrchestrating, setIsOrchestrating] = useState(false);
  const isWorking = BUSY.has(session.activity) || drafts.length > 0;
  const isParked = session.activity === "needs_you";
  const rows = useMemo(
    () =>
      buildRows({
        entries,
        drafts,
        isWorking,
        isParked,
        approvals: approvals ?? [],
        sessionId: session.id,
      }),
    [entries, drafts, isWorking, isParked, approvals, session.id],
  );
  const isFresh = hasNoPrompt(session, rows) && !transcript.hasNextPage;
  const target = useEntryTarget(transcript, entries, rows);
  return (
    <div className="flex h-full">
      <div className="flex h-full min-w-0 flex-1 flex-col">
        <SessionHeader
          session={session}
          name={name}
          isReviewing={isReviewing}
          onReview={() => setIsReviewing(!isReviewing)}
          isOrchestrating={isOrchestrating}
          onOrchestrate={() => setIsOrchestrating(!isOrchestrating)}
        />
        <TroubleBar session={session} />
        {isOrchestrating && <OrchestrationPanel session={session} />}
        <WaitNotice session={session} />
        {notice}
        {transcript.isError ? (
          <PageMessage isPart title="Couldn't load the transcript">
            <p>{messageOf(transcript.error)}</p>
            <Button className="mt-4" onClick={() => void transcript.refetch()}>
              Try again
            </Button>
          </PageMessage>
        ) : (
          <RedactProvider sessionId={session.id}>
            <Transcript
              rows={rows}
              target={target}
              speaker={name ?? speakerOf(session, model)}
              welcome={welcome}
              isFresh={isFresh}
              isLoading={transcript.isPending}
              hasOlder={transcript.hasNextPage}
              isLoadingOlder={transcript.isFetchingNextPage}
              onLoadOlder={() => void transcript.fetchNextPage()}
            />
          </RedactProvider>
        )}
        <div className="mx-auto w-full max-w-3xl shrink-0 px-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] sm:px-6">
          <QueuePanel sessionId={session.id} submissions={submissions} />
          <Composer
            session={session}
            isFresh={isFresh}
            isWorking={isWorking || isParked}
            isAsking={isParked && hasOpenQuestion(approvals, session.id)}
            submissions={submissions}
          />
        </div>
      </div>
      {isReviewing && <ChangesAside sessionId={session.id} onClose={() => setIsReviewing(false)} />}
    </div>
  );
}
