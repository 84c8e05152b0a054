/** Root route, and the frame route of pages behind the sign-in. */
import { createRootRoute, createRoute, Outlet } from "@tanstack/react-router";
import { INBOX_SEARCH } from "#features/mailbox/ui/list/inbox-search.ts";
import { WANTED_SEARCH } from "#features/search/ui/page-search.ts";
import { readListSearch } from "#features/sessions/ui/list/list-search.ts";
import { PageMessage } from "#surfaces/web/kit/page-message.tsx";
import { AppFrame } from "./app-frame.tsx";
import { CrashPage } from "./crash-page.tsx";
import { dropForeign } from "./page-search.ts";

export const rootRoute = createRootRoute({
  component: Outlet,
  errorComponent: CrashPage,
  notFoundComponent: NotFoundPage,
});

export const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "app",
  validateSearch: readListSearch,
  search: { middlewares: [dropForeign([...INBOX_SEARCH, ...WANTED_SEARCH])] },
  component: AppFrame,
});

function NotFoundPage() {
  return (
    <PageMessage title="Page not found">
      <a href="/" className="text-accent underline underline-offset-2">
        Go to your orchestrator
      </a>
    </PageMessage>
  );
}
