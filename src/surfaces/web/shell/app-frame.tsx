import { useQuery } from "@tanstack/react-query";
import { Outlet, useLocation } from "@tanstack/react-router";
import { clsx } from "clsx";
import { api, type Me } from "#surfaces/web/kit/api.ts";
import { ApiError } from "#surfaces/web/kit/api-client.ts";
import { Button } from "#surfaces/web/kit/button.tsx";
import { LiveProvider } from "#surfaces/web/kit/live-context.tsx";
import { PageMessage } from "#surfaces/web/kit/page-message.tsx";
import { keys } from "#surfaces/web/kit/query-keys.ts";
import { Sidebar } from "#surfaces/web/pages/sessions/sidebar.tsx";
import { SignedOut } from "#surfaces/web/pages/sign-in/signed-out.tsx";

async function readMe(signal: AbortSignal): Promise<Me | null> {
  try {
    return await api.me(signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

/** Everything behind the sign-in: the list at the side, one page beside it; on a phone one of the two. */
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

function Panes({ me }: { me: Me }) {
  const hasPage = useLocation({ select: ({ pathname }) => pathname !== "/" });
  return (
    <div className="flex h-dvh">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-raised focus:px-3 focus:py-2"
      >
        Skip to the content
      </a>
      <div
        className={clsx(
          "h-full w-full shrink-0 border-line bg-panel md:block md:w-72 md:border-r lg:w-80",
          hasPage && "hidden",
        )}
      >
        <Sidebar me={me} />
      </div>
      <main
        id="main"
        tabIndex={-1}
        className={clsx("h-full min-w-0 flex-1 outline-none md:block", !hasPage && "hidden")}
      >
        <Outlet />
      </main>
    </div>
  );
}
