/** Settings routes. */
import { createRoute, lazyRouteComponent, Navigate } from "@tanstack/react-router";
import { appRoute } from "./app-route.tsx";

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

const notificationsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/notifications",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/settings/notifications-tab.tsx"),
    "NotificationsTab",
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

const machinesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/machines",
  component: lazyRouteComponent(
    () => import("#surfaces/web/pages/settings/machines-tab.tsx"),
    "MachinesTab",
  ),
});

export const settingsRoutes = settingsRoute.addChildren([
  settingsStartRoute,
  orchestratorRoute,
  notificationsRoute,
  personasRoute,
  personaRoute,
  reposRoute,
  secretsRoute,
  keysRoute,
  signInTabRoute,
  membersRoute,
  machinesRoute,
]);
