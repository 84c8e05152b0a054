import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
} from "@tanstack/react-router";
import { PageMessage } from "#surfaces/web/kit/page-message.tsx";
import { HomePage } from "#surfaces/web/pages/sessions/home-page.tsx";
import { readListSearch } from "#surfaces/web/pages/sessions/list-search.ts";
import { SignInPage } from "#surfaces/web/pages/sign-in/sign-in-page.tsx";
import { AppFrame } from "./app-frame.tsx";
import { CrashPage } from "./crash-page.tsx";

const rootRoute = createRootRoute({
  component: Outlet,
  errorComponent: CrashPage,
  notFoundComponent: NotFoundPage,
});

const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sign-in",
  component: SignInPage,
});

const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "app",
  validateSearch: readListSearch,
  component: AppFrame,
});

const homeRoute = createRoute({ getParentRoute: () => appRoute, path: "/", component: HomePage });

const sessionRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/sessions/$sessionId",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/session/session-page.tsx"),
    "SessionPage",
  ),
});

const usageRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/usage",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/usage/usage-page.tsx"),
    "UsagePage",
  ),
});

const modelsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/models",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/models/models-page.tsx"),
    "ModelsPage",
  ),
});

const rulesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/rules",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/rules/rules-page.tsx"),
    "RulesPage",
  ),
});

const routeTree = rootRoute.addChildren([
  signInRoute,
  appRoute.addChildren([homeRoute, sessionRoute, usageRoute, modelsRoute, rulesRoute]),
]);

export function createAppRouter() {
  return createRouter({ routeTree, defaultPreload: "intent", defaultErrorComponent: CrashPage });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}

function NotFoundPage() {
  return (
    <PageMessage title="There is no such page">
      <a href="/" className="text-accent underline underline-offset-2">
        Go to your sessions
      </a>
    </PageMessage>
  );
}
