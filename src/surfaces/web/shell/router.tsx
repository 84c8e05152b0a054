import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
} from "@tanstack/react-router";
import { PageMessage } from "#surfaces/web/kit/page-message.tsx";
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

const joinRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: "/join",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/sign-in/join-page.tsx"),
    "JoinPage",
  ),
});

const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: "app",
  validateSearch: readListSearch,
  component: AppFrame,
});

const homeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/",
  component: lazyRouteComponent(() => import("#surfaces/web/pages/home/home-page.tsx"), "HomePage"),
});

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

const settingsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/settings",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/settings/settings-page.tsx"),
    "SettingsPage",
  ),
});

const settingsStartRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/",
  component: () => <Navigate to="/settings/orchestrator" search={true} replace />,
});

const orchestratorRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/orchestrator",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/settings/orchestrator-tab.tsx"),
    "OrchestratorTab",
  ),
});

const personasRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/personas",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/settings/personas-tab.tsx"),
    "PersonasTab",
  ),
});

const personaRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/personas/$personaId",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/settings/persona-editor.tsx"),
    "PersonaEditor",
  ),
});

const reposRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/repositories",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/settings/repositories-tab.tsx"),
    "RepositoriesTab",
  ),
});

const secretsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/secrets",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/settings/secrets-tab.tsx"),
    "SecretsTab",
  ),
});

const keysRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/keys",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/settings/keys-tab.tsx"),
    "KeysTab",
  ),
});

const signInTabRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/sign-in",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/settings/sign-in-tab.tsx"),
    "SignInTab",
  ),
});

const membersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/members",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/settings/members-tab.tsx"),
    "MembersTab",
  ),
});

const routeTree = rootRoute.addChildren([
  signInRoute,
  joinRoute,
  appRoute.addChildren([
    homeRoute,
    sessionRoute,
    usageRoute,
    modelsRoute,
    rulesRoute,
    settingsRoute.addChildren([
      settingsStartRoute,
      orchestratorRoute,
      personasRoute,
      personaRoute,
      reposRoute,
      secretsRoute,
      keysRoute,
      signInTabRoute,
      membersRoute,
    ]),
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

function NotFoundPage() {
  return (
    <PageMessage title="There is no such page">
      <a href="/" className="text-accent underline underline-offset-2">
        Go to your orchestrator
      </a>
    </PageMessage>
  );
}
