/** Every page of the web surface, by its address. Settings tabs are in `settings-pages.tsx`. */
import {
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  redirect,
} from "@tanstack/react-router";
import { SignInPage } from "#features/auth/ui/sign-in-page.tsx";
import { INBOX_SEARCH, readInboxSearch } from "#features/mailbox/ui/list/inbox-search.ts";
import { readWantedSearch, WANTED_SEARCH } from "#features/search/ui/page-search.ts";
import { SearchPage } from "#features/search/ui/search-page.tsx";
import { ORCHESTRATOR } from "#protocol/names/session-ids.ts";
import { appRoute, rootRoute } from "#surfaces/web/shell/app-route.tsx";
import { CrashPage } from "#surfaces/web/shell/crash-page.tsx";
import { keepOwn } from "#surfaces/web/shell/page-search.ts";
import { settingsRoutes } from "./settings-pages.tsx";

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  component: SignInPage,
});

const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/join",
  component: lazyRouteComponent(() => import("#features/auth/ui/join-page.tsx"), "JoinPage"),
});

const homeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/",
  component: lazyRouteComponent(
    () => import("#features/orchestrators/ui/home-page.tsx"),
    "HomePage",
  ),
});

const sessionRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/sessions/$sessionId",
  component: lazyRouteComponent(
    () => import("#features/sessions/ui/session/session-page.tsx"),
    "SessionPage",
  ),
});

const ownBoardRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/board",
  component: () => (
    <Navigate to="/board/$sessionId" params={{ sessionId: ORCHESTRATOR }} search={true} replace />
  ),
});

const boardRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/board/$sessionId",
  component: lazyRouteComponent(() => import("#features/tasks/ui/board-page.tsx"), "BoardPage"),
});

const taskRoute = createRoute({
  getParentRoute: () => boardRoute,
  path: "/$taskId",
  component: lazyRouteComponent(() => import("#features/tasks/ui/task-sheet.tsx"), "TaskSheet"),
});

const memoryRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/memory",
  component: lazyRouteComponent(() => import("#features/memory/ui/memory-page.tsx"), "MemoryPage"),
});

const repositoryMemoryRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/memory/repositories",
  component: lazyRouteComponent(
    () => import("#features/memory/ui/memory-page.tsx"),
    "RepositoryMemoryPage",
  ),
});

const inboxRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/inbox",
  validateSearch: readInboxSearch,
  search: { middlewares: [keepOwn(INBOX_SEARCH)] },
  component: lazyRouteComponent(() => import("#features/mailbox/ui/inbox-page.tsx"), "InboxPage"),
});

const noThreadRoute = createRoute({
  getParentRoute: () => inboxRoute,
  path: "/",
  component: lazyRouteComponent(() => import("#features/mailbox/ui/inbox-page.tsx"), "NoThread"),
});

const threadRoute = createRoute({
  getParentRoute: () => inboxRoute,
  path: "/$threadId",
  component: lazyRouteComponent(() => import("#features/mailbox/ui/thread-view.tsx"), "ThreadView"),
});

const searchRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/search",
  validateSearch: readWantedSearch,
  search: { middlewares: [keepOwn(WANTED_SEARCH)] },
  // Hand-written addresses often use `q`; on other pages `q` filters the session list.
  beforeLoad: ({ cause, search }) => {
    const { q, for: words } = search;
    if (cause === "enter" && q !== undefined && words === undefined)
      throw redirect({ to: "/search", search: { for: q }, replace: true });
  },
  // Bundled, not lazy: a person who has pressed the shortcut types on at once.
  component: SearchPage,
});

const usageRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/usage",
  component: lazyRouteComponent(() => import("#features/usage/ui/usage-page.tsx"), "UsagePage"),
});

const modelsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/models",
  component: lazyRouteComponent(
    () => import("#features/providers/ui/models-page.tsx"),
    "ModelsPage",
  ),
});

const rulesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/rules",
  component: lazyRouteComponent(() => import("#features/policy/ui/rules-page.tsx"), "RulesPage"),
});

const routeTree = rootRoute.addChildren([
  signInRoute,
  joinRoute,
  appRoute.addChildren([
    homeRoute,
    sessionRoute,
    ownBoardRoute,
    boardRoute.addChildren([taskRoute]),
    memoryRoute,
    repositoryMemoryRoute,
    inboxRoute.addChildren([noThreadRoute, threadRoute]),
    searchRoute,
    usageRoute,
    modelsRoute,
    rulesRoute,
    settingsRoutes,
  ]),
]);

export function createAppRouter() {
  return createRouter({ routeTree, defaultPreload: "intent", defaultErrorComponent: CrashPage });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
