/** Every tab of the settings page, by its address. */
import { createRoute, lazyRouteComponent, Navigate } from "@tanstack/react-router";
import { appRoute } from "#surfaces/web/shell/app-route.tsx";

const settingsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: "/settings",
  component: lazyRouteComponent(
    () => import("#surfaces/web/shell/settings-page.tsx"),
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
    () => import("#features/orchestrators/ui/orchestrator-tab.tsx"),
    "OrchestratorTab",
  ),
});

const personasRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/personas",
  component: lazyRouteComponent(
    () => import("#features/personas/ui/personas-tab.tsx"),
    "PersonasTab",
  ),
});

const personaRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/personas/$personaId",
  component: lazyRouteComponent(
    () => import("#features/personas/ui/persona-editor.tsx"),
    "PersonaEditor",
  ),
});

const reposRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/repositories",
  component: lazyRouteComponent(
    () => import("#features/repos/ui/repositories-tab.tsx"),
    "RepositoriesTab",
  ),
});

const secretsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/secrets",
  component: lazyRouteComponent(() => import("#features/secrets/ui/secrets-tab.tsx"), "SecretsTab"),
});

const keysRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/keys",
  component: lazyRouteComponent(() => import("#features/auth/ui/keys-tab.tsx"), "KeysTab"),
});

const signInTabRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/sign-in",
  component: lazyRouteComponent(() => import("#features/auth/ui/sign-in-tab.tsx"), "SignInTab"),
});

const notificationsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/notifications",
  component: lazyRouteComponent(
    () => import("#features/mailbox/ui/notifications/notifications-tab.tsx"),
    "NotificationsTab",
  ),
});

const membersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/members",
  component: lazyRouteComponent(() => import("#features/orgs/ui/members-tab.tsx"), "MembersTab"),
});

const machinesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: "/machines",
  component: lazyRouteComponent(
    () => import("#features/runners/ui/machines-tab.tsx"),
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
