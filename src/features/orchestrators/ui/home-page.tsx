import type { ReactNode } from "react";
import { NeedsYou } from "#features/approvals/ui/needs-you.tsx";
import { OneSession } from "#features/sessions/ui/session/session-page.tsx";
import { messageOf } from "#surfaces/web/kit/api/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { useDocumentTitle } from "#surfaces/web/kit/hooks/use-document-title.ts";
import { useMedia } from "#surfaces/web/kit/hooks/use-media.ts";
import { useStartedOrchestrator } from "#surfaces/web/kit/hooks/use-orchestrator.ts";
import { PageMessage } from "#surfaces/web/kit/page-message.tsx";
import { DrawerButton } from "#surfaces/web/kit/side-drawer.tsx";
import { Welcome } from "./welcome.tsx";

/** Landing page: the conversation with one's own orchestrator, which is created on first visit. */
export function HomePage() {
  const { mine, problem, isStarting, start } = useStartedOrchestrator();
  const isNarrow = useMedia("(max-width: 47.99rem)");
  const { session, identity = null } = mine.data ?? {};
  if (session) {
    return (
      <OneSession
        key={session.id}
        sessionId={session.id}
        name={identity?.name}
        welcome={<Welcome identity={identity} />}
        notice={
          <>
            {isNarrow && (
              <div className="has-[nav]:pt-2">
                <NeedsYou />
              </div>
            )}
            <RestartNotice problem={problem} isStarting={isStarting} onRetry={() => void start()} />
          </>
        }
      />
    );
  }
  if (problem !== null) {
    return (
      <Trouble
        title="Couldn't start your orchestrator"
        text={problem}
        onRetry={() => void start()}
      />
    );
  }
  if (mine.isError) {
    const { error, refetch } = mine;
    return (
      <Trouble
        title="Couldn't reach your orchestrator"
        text={messageOf(error)}
        onRetry={() => void refetch()}
      />
    );
  }
  return <Starting />;
}

interface RestartNoticeProps {
  problem: string | null;
  isStarting: boolean;
  onRetry: () => void;
}

/** Notice above the readable transcript while an ended orchestrator is started again. */
function RestartNotice({ problem, isStarting, onRetry }: RestartNoticeProps) {
  if (problem === null) {
    return isStarting ? (
      <p role="status" className="bg-panel px-4 py-2 text-center text-xs text-ink-soft">
        Your orchestrator stopped and is restarting…
      </p>
    ) : null;
  }
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center justify-center gap-2 bg-bad-soft px-4 py-2 text-xs text-bad"
    >
      <span>Your orchestrator stopped and couldn't restart: {problem}</span>
      <Button size="small" onClick={onRetry}>
        Try again
      </Button>
    </div>
  );
}

function Starting() {
  useDocumentTitle("Starting");
  return (
    <PageFrame>
      <PageMessage title="Your orchestrator is starting">
        <p role="status">This takes a moment the first time.</p>
      </PageMessage>
    </PageFrame>
  );
}

interface TroubleProps {
  title: string;
  text: string;
  onRetry: () => void;
}

function Trouble({ title, text, onRetry }: TroubleProps) {
  useDocumentTitle(title);
  return (
    <PageFrame>
      <PageMessage title={title}>
        <p role="alert">{text}</p>
        <p className="mt-2">Your sessions are not affected. You can open them from the list.</p>
        <Button look="primary" className="mt-4" onClick={onRetry}>
          Try again
        </Button>
      </PageMessage>
    </PageFrame>
  );
}

function PageFrame({ children }: { children: ReactNode }) {
  return (
    <div className="relative h-full">
      <div className="absolute top-2.5 left-2">
        <DrawerButton />
      </div>
      {children}
    </div>
  );
}
