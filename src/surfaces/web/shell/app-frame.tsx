import { useQuery } from "@tanstack/react-query";
import { Outlet, useLocation } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { api, type Me } from "#surfaces/web/kit/api.ts";
import { ApiError } from "#surfaces/web/kit/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { LiveProvider } from "#surfaces/web/kit/live-context.tsx";
import { PageMessage } from "#surfaces/web/kit/page-message.tsx";
import { keys } from "#surfaces/web/kit/query-keys.ts";
import { DrawerOpener, SideDrawer } from "#surfaces/web/kit/side-drawer.tsx";
import { useMedia } from "#surfaces/web/kit/use-media.ts";
import { usePendingApprovals } from "#surfaces/web/pages/approvals/use-approvals.ts";
import { useLetterCount } from "#surfaces/web/pages/inbox/use-letters.ts";
import { useSearchShortcut } from "#surfaces/web/pages/search/use-open-search.ts";
import { SandboxCard } from "#surfaces/web/pages/sessions/sandbox-card.tsx";
import { useRunnerChanges } from "#surfaces/web/pages/sessions/sandbox-state.tsx";
import { Sidebar } from "#surfaces/web/pages/sessions/sidebar.tsx";
import { useMyChanges } from "#surfaces/web/pages/sessions/use-session-lists.ts";
import { SignedOut } from "#surfaces/web/pages/sign-in/signed-out.tsx";

async function readMe(signal: AbortSignal): Promise<Me | null> {
  try {
    return await api.me(signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

/** Everything behind the sign-in: the list at the side, one page beside it; on a phone the list is a drawer. */
export function AppFrame() {
  const me = useQuery({
    queryKey: keys.me,
    queryFn: ({ signal }) => readMe(signal),
    staleTime: 60_000,
  });
  if (me.data) {
    return (
      <LiveProvider>
        <Panes me={me.data} />
      </LiveProvider>
    );
  }
  if (me.data === null) return <SignedOut />;
  if (me.isError) {
    return (
      <PageMessage title="The server cannot be reached">
        <p>{me.error.message}</p>
        <Button className="mt-4" onClick={() => void me.refetch()}>
          Try again
        </Button>
      </PageMessage>
    );
  }
  return <div role="status" aria-label="Loading" className="h-full" />;
}

const WIDE = "(min-width: 48rem)";

function Panes({ me }: { me: Me }) {
  useMyChanges();
  useRunnerChanges();
  useSearchShortcut();
  usePendingApprovals();
  useLetterCount();
  const isWide = useMedia(WIDE);
  const place = useLocation({ select: ({ pathname }) => pathname });
  // Where it was opened: whoever has gone elsewhere since is done with it.
  const [openedAt, setOpenedAt] = useState<string | null>(null);
  if (openedAt !== null && openedAt !== place) setOpenedAt(null);
  const open = useCallback(() => setOpenedAt(place), [place]);
  return (
    <div className="flex h-dvh">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-raised focus:px-3 focus:py-2"
      >
        Skip to the content
      </a>
      {isWide ? (
        <div className="hidden h-full w-72 shrink-0 border-r border-line bg-panel md:block lg:w-80">
          <Sidebar me={me} />
        </div>
      ) : (
        <SideDrawer isOpen={openedAt === place} onClose={() => setOpenedAt(null)}>
          <Sidebar me={me} />
        </SideDrawer>
      )}
      <main id="main" tabIndex={-1} className="flex h-full min-w-0 flex-1 flex-col outline-none">
        <SandboxCard />
        <div className="min-h-0 flex-1">
          <DrawerOpener value={isWide ? undefined : open}>
            <Outlet />
          </DrawerOpener>
        </div>
      </main>
    </div>
  );
}
