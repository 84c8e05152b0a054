import { useQuery } from "@tanstack/react-query";
import { Outlet, useLocation } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { usePendingApprovals } from "#features/approvals/ui/use-approvals.ts";
import type { Me } from "#features/auth/contract.ts";
import { SignedOut } from "#features/auth/ui/signed-out.tsx";
import { useMessageCount } from "#features/mailbox/ui/use-messages.ts";
import { useSearchShortcut } from "#features/search/ui/use-open-search.ts";
import { OutboxProvider } from "#features/sessions/ui/composer/outbox-context.tsx";
import { SandboxCard } from "#features/sessions/ui/list/sandbox-card.tsx";
import { useRunnerChanges } from "#features/sessions/ui/list/sandbox-state.tsx";
import { Sidebar } from "#features/sessions/ui/list/sidebar.tsx";
import { useMyChanges } from "#features/sessions/ui/list/use-session-lists.ts";
import { api, isSignOut, isUnauthenticated } from "#surfaces/web/kit/api/api-client.ts";
import { keys } from "#surfaces/web/kit/api/query-keys.ts";
import { leave } from "#surfaces/web/kit/api/tab-person.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { useMedia } from "#surfaces/web/kit/hooks/use-media.ts";
import { LiveProvider } from "#surfaces/web/kit/live/live-context.tsx";
import { PageMessage } from "#surfaces/web/kit/page-message.tsx";
import { DrawerOpener, SideDrawer } from "#surfaces/web/kit/side-drawer.tsx";
import { revealLine } from "#surfaces/web/kit/text/reveal.ts";
import { useSignOutElsewhere, useTabPerson } from "./use-tab-person.ts";

async function readMe(signal: AbortSignal): Promise<Me | null> {
  try {
    return await api.me.get({}, { signal });
  } catch (error) {
    if (!isUnauthenticated(error)) throw error;
    if (isSignOut(error)) leave();
    return null;
  }
}

/** Frame of all pages behind the sign-in: the list at the side, on a phone in a drawer, and one page. */
export function AppFrame() {
  const me = useQuery({
    queryKey: keys.me,
    queryFn: ({ signal }) => readMe(signal),
    staleTime: 60_000,
  });
  const before = useTabPerson(me.data);
  if (me.data && before) return <PersonChanged before={before} now={me.data} />;
  if (me.data) {
    return (
      <LiveProvider>
        <OutboxProvider userId={me.data.user.id}>
          <Panes me={me.data} />
        </OutboxProvider>
      </LiveProvider>
    );
  }
  if (me.data === null) return <SignedOut />;
  if (me.isError) {
    return (
      <PageMessage title="Couldn't reach the server">
        <p>{me.error.message}</p>
        <Button className="mt-4" onClick={() => void me.refetch()}>
          Try again
        </Button>
      </PageMessage>
    );
  }
  return <div role="status" aria-label="Loading" className="h-full" />;
}

/** Shown after another tab of this browser signed somebody else in; this tab's content is gone. */
function PersonChanged({ before, now }: { before: Me; now: Me }) {
  return (
    <PageMessage title="Someone else is signed in now">
      <p role="alert">
        This tab belonged to {revealLine(before.user.name)}. This browser is now signed in as{" "}
        {revealLine(now.user.name)}, so the tab was cleared.
      </p>
      <Button look="primary" className="mt-4" onClick={() => location.assign("/")}>
        Continue as {revealLine(now.user.name)}
      </Button>
    </PageMessage>
  );
}

const WIDE = "(min-width: 48rem)";

function Panes({ me }: { me: Me }) {
  useMyChanges();
  useSignOutElsewhere();
  useRunnerChanges();
  useSearchShortcut();
  usePendingApprovals();
  useMessageCount();
  const isWide = useMedia(WIDE);
  const place = useLocation({ select: ({ pathname }) => pathname });
  // Address at which the drawer was opened: navigating closes it.
  const [openedAt, setOpenedAt] = useState<string | null>(null);
  if (openedAt !== null && openedAt !== place) setOpenedAt(null);
  const open = useCallback(() => setOpenedAt(place), [place]);
  return (
    <div className="flex h-dvh">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-raised focus:px-3 focus:py-2"
      >
        Skip to content
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
